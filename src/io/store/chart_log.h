// Enters: charts as they go into a file that is not whole before its last one.
// Leaves: a log of them; and later, from a file that was never finished, the charts that a log tells of.
// Never: gives out a chart that is not what was written.
//
// A log holds length and XXH3 of each chart, not where it lies: charts lie in the file one after the other, and where
// the library has put something of its own between them, the next one is searched for. It stays on one machine, between
// two runs: numbers are as this machine has them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/store/chart_block.h"

namespace millrace {

struct LoggedChart {
  std::uint64_t bytes, hash;
};
// What all charts of a run begin with: their first bytes are those of one code.
using ChartFront = std::uint64_t;

class ChartLog {
 public:
  // `owner` without a line break.
  ChartLog(std::string path, const std::string& owner);
  void append(const ChartBlock& block);
  void finish();
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  ChartFront front_ = 0;
  std::vector<LoggedChart> charts_;
};

struct ChartRecord {
  ChartFront front = 0;
  std::vector<LoggedChart> charts;
};
// A log that is whole and has this owner; else nothing.
std::optional<ChartRecord> read_chart_log(const std::string& path, const std::string& owner);

// Charts in a file that was never finished.
class ChartFinder {
 public:
  // A file that cannot be opened holds none.
  explicit ChartFinder(const std::string& path);
  ~ChartFinder();
  ChartFinder(const ChartFinder&) = delete;
  ChartFinder& operator=(const ChartFinder&) = delete;

  // Where each chart of a record begins; nothing unless all are there. Searched from where the last one that was found
  // ended, then from the front.
  std::optional<std::vector<std::uint64_t>> find(const ChartRecord& record);
  // Bytes that find() has found; false where they cannot be read any more.
  bool read(std::uint64_t offset, std::span<std::uint8_t> out) const;

 private:
  std::optional<std::uint64_t> next(std::uint64_t from, ChartFront front, const LoggedChart& chart);
  bool is_at(std::uint64_t offset, const LoggedChart& chart);
  std::optional<std::vector<std::uint64_t>> find_from(std::uint64_t from, const ChartRecord& record);

  int fd_ = -1;
  std::uint64_t end_ = 0;  // of what was found last
  std::vector<std::uint8_t> bytes_;
};

}  // namespace millrace
