// Enters: blocks of charts as they go into a store that is not whole before its last chart.
// Leaves: a file of them, from which a killed run takes them again.
// Never: gives out a block that is not what was written.
//
// The file: a line that says whose it is; then for each block its length, its XXH3 and its bytes; a length of 0 ends
// it. It stays on one machine, between two runs: numbers are as this machine has them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/store/chart_block.h"

namespace millrace {

class ChartLog {
 public:
  // `owner` without a line break.
  ChartLog(std::string path, const std::string& owner);
  void append(const ChartBlock& block);
  void finish();
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  std::vector<std::uint8_t> bytes_;
};

// The blocks of a log that is whole and has this owner, one after the other; false where it is none, from which some
// blocks may have been given. Throws what `each` throws.
bool read_chart_log(const std::string& path, const std::string& owner,
                    const std::function<void(const ChartBlock&)>& each);

}  // namespace millrace
