// Input: data that does not fit into memory.
// Output: the same data when it is read again.
// Never: keeps a name that another program sees, or outlives this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/io/file/directory_entry.h"

namespace millrace {

class ScratchFile {
 public:
  // Creates the file in the folder. Bytes that were never written read as 0. Throws Failure(io).
  explicit ScratchFile(const std::string& folder);
  // Both functions throw Failure(io).
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string folder_;
  Descriptor file_;
};

}  // namespace millrace
