// Input: what does not fit into memory.
// Output: the same, when it is asked for again.
// Never: has a name that another program sees, or outlives this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/io/file/place.h"

namespace millrace {

class ScratchFile {
 public:
  // In the folder. What was never written is 0. Failure(io).
  explicit ScratchFile(const std::string& folder);
  // Failure(io).
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string folder_;
  Descriptor file_;
};

}  // namespace millrace
