// Input: an open file.
// Output: its bytes at any offset, or one after the other.
// Never: maps the file; fails. Bytes that are missing read as zero, and the number of bytes that exist is returned.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

namespace millrace::helper {

class FileBytes {
 public:
  explicit FileBytes(int fd) : fd_(fd) {
    struct stat info {};
    if (::fstat(fd, &info) == 0) size_ = static_cast<std::uint64_t>(info.st_size);
  }
  std::uint64_t size() const { return size_; }
  // Returns how many bytes the file had there; the rest is set to zero.
  std::size_t read(std::uint64_t at, std::uint8_t* to, std::size_t count) const {
    std::size_t got = 0;
    while (got < count && at + got < size_) {
      const ssize_t n = ::pread(fd_, to + got, count - got, static_cast<off_t>(at + got));
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    if (got < count) std::memset(to + got, 0, count - got);
    return got;
  }
  // Returns a little-endian number of at most four bytes.
  std::uint32_t number(std::uint64_t at, std::size_t bytes) const {
    std::array<std::uint8_t, 4> b{};
    read(at, b.data(), bytes);
    return b[0] | static_cast<std::uint32_t>(b[1]) << 8 | static_cast<std::uint32_t>(b[2]) << 16 |
           static_cast<std::uint32_t>(b[3]) << 24;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

// Reads bytes one after the other from an offset on.
class ByteStream {
 public:
  ByteStream(const FileBytes& bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}
  std::optional<std::uint8_t> next() {
    if (used_ == got_) {
      got_ = bytes_.read(at_, buffer_.data(), buffer_.size());
      used_ = 0;
      if (got_ == 0) return std::nullopt;
    }
    ++at_;
    return buffer_[used_++];
  }
  // Offset of the next byte.
  std::uint64_t at() const { return at_; }

 private:
  const FileBytes& bytes_;
  std::uint64_t at_;
  std::array<std::uint8_t, 1 << 16> buffer_{};
  std::size_t used_ = 0, got_ = 0;
};

}  // namespace millrace::helper
