// Input: bytes of a file that takes long to make, and where a run that was killed had got to.
// Output: a file that later runs go on with, in a folder that is this program's own.
// Never: keeps what was written behind the place that a checkpoint knows; follows a link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/io/file/place.h"

namespace millrace {

class GrowingFile {
 public:
  // Makes it anew; or goes on with the first `keep` bytes of what is there. Failure(conflict) where there are fewer.
  explicit GrowingFile(std::string path);
  GrowingFile(std::string path, std::uint64_t keep);

  // Behind what there is.
  void append(std::span<const std::byte> bytes);
  void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
  // Anywhere; what append() goes on from stays where it is.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // All of `out`, or Failure(bad_data).
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // What append() has written.
  std::uint64_t size() const { return size_; }
  // All of it on the disk.
  void sync();
  // Ends where append() has got to, and is on the disk.
  void finish();

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace millrace
