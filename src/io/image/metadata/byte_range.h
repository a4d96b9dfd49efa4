// Input: an open file, or bytes in memory.
// Output: ranges of it by offset, each complete or empty, and the numbers in them.
// Never: reads more of a file than the limit in total, however often it is asked; moves the file's own position.
//
// This folder reads the metadata inside a picture file. Each source file reads one notation (TIFF fields, XMP, IPTC,
// JPEG's tables, boxes). metadata_locations.h finds them in a file; provenance.h, one folder up, interprets them
// together. All of it accepts hostile bytes: every offset is checked, work grows at most linearly with the bytes, and
// nothing recurses or throws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace millrace {

class ByteSource {
 public:
  // The bytes must outlive the source.
  explicit ByteSource(std::span<const std::uint8_t> bytes) : memory_(bytes), size_(bytes.size()) {}
  // Reads a file of `size` bytes. After `most` bytes were read, further reads return nothing.
  ByteSource(int descriptor, std::uint64_t size, std::uint64_t most)
      : descriptor_(descriptor), size_(size), most_(most) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  std::uint64_t size() const { return size_; }
  std::uint64_t bytes_read() const { return read_; }
  // The errno of the last read that the system refused; 0 when none was.
  int error_number() const { return error_number_; }

  // Returns `count` bytes from `offset` on, or an empty span when they are not all there. The span is valid until the
  // next call.
  std::span<const std::uint8_t> at(std::uint64_t offset, std::uint64_t count);

 private:
  // Bytes per read. Headers lie close together, so one read serves several of them.
  static constexpr std::uint64_t kWindow = 16 * 1024;

  std::span<const std::uint8_t> memory_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, most_ = 0, read_ = 0, window_at_ = 0;
  int error_number_ = 0;
  std::vector<std::uint8_t> window_;
};

inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

enum class ByteOrder : std::uint8_t { big, little };
// Converts at most eight bytes to a number.
std::uint64_t number_of(std::span<const std::uint8_t> bytes, ByteOrder order);

// A range of a source. The source must outlive it.
class ByteRange {
 public:
  ByteRange() = default;
  explicit ByteRange(ByteSource& source) : source_(&source), size_(source.size()) {}

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Offset of the range in its source.
  std::uint64_t offset() const { return at_; }

  // Returns the existing part of a sub-range; empty when it begins past the end.
  ByteRange part(std::uint64_t offset, std::uint64_t count = std::numeric_limits<std::uint64_t>::max()) const;
  // Reads from the range, as ByteSource::at() does from the source.
  std::span<const std::uint8_t> read(std::uint64_t offset, std::uint64_t count) const;
  // Returns the first bytes, at most `most`.
  std::span<const std::uint8_t> first(std::uint64_t most) const { return read(0, std::min(size_, most)); }
  // Returns a number of at most eight bytes; 0 when it lies outside the range.
  std::uint64_t number(std::uint64_t offset, std::uint64_t bytes, ByteOrder order = ByteOrder::big) const {
    return number_of(read(offset, bytes), order);
  }
  bool starts_with(std::string_view text, std::uint64_t offset = 0) const {
    return as_text(read(offset, text.size())) == text;
  }

 private:
  ByteSource* source_ = nullptr;
  std::uint64_t at_ = 0, size_ = 0;
};

}  // namespace millrace
