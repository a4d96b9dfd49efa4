// Input: an open file, or the inflated contents of one.
// Output: bytes at requested offsets, and the numbers in them.
// Never: maps a file, or returns fewer bytes than were requested.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "src/io/tensor/parse_error.h"

namespace millrace {

static_assert(std::endian::native == std::endian::little, "numbers in files are used as they lie there");

// Reads an unsigned number at an offset that holds one.
template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number out;
  std::memcpy(&out, bytes.data() + at, sizeof(out));
  return out;
}

class RandomAccessSource {
 public:
  RandomAccessSource() = default;
  virtual ~RandomAccessSource() = default;
  RandomAccessSource(const RandomAccessSource&) = delete;
  RandomAccessSource& operator=(const RandomAccessSource&) = delete;

  // Returns the number of bytes. A gzipped file is inflated to its end for that.
  virtual std::uint64_t size() = 0;
  // Fills `out`. Throws ParseError: bad_data if the file ends before that, io, conflict if it was truncated meanwhile.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) = 0;
};

class FileSource : public RandomAccessSource {
 public:
  // Reads an open file, which the caller closes. `size` is the size that the file had when it was examined. `go_on` is
  // called before every read, and may throw: a small file may hold terabytes of zeros.
  FileSource(int fd, std::uint64_t size, std::function<void()> go_on = {})
      : fd_(fd), size_(size), go_on_(std::move(go_on)) {}
  std::uint64_t size() override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  const int fd_;
  const std::uint64_t size_;
  const std::function<void()> go_on_;
};

class MemorySource : public RandomAccessSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t size() override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;

 private:
  const std::span<const std::byte> bytes_;
};

}  // namespace millrace
