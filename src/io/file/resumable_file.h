// Input: the bytes of a file that takes long to make, and the length up to which a killed run had written it.
// Output: a file that later runs can continue, in a folder of this program's own.
// Never: keeps bytes beyond the length in the checkpoint; follows a symbolic link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/io/file/directory_entry.h"

namespace millrace {

class ResumableFile {
 public:
  // Creates the file anew, or continues after the first `keep` bytes of the existing file. Failure(conflict) if there
  // are fewer.
  explicit ResumableFile(std::string path);
  ResumableFile(std::string path, std::uint64_t keep);

  // Writes at offset size(), and advances it.
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  // Writes at any offset; the position of append() does not change.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Fills `out`, or throws Failure(bad_data) if the file is too short.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // Offset at which append() writes next.
  std::uint64_t size() const { return size_; }
  // Writes all data to the disk.
  void sync();
  // Truncates the file where append() has ended, and writes it to the disk.
  void finish();

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace millrace
