// Input: an open file, or bytes in memory.
// Output: pieces of it by their place, each whole or not at all, and the numbers in them.
// Never: reads more of a file than it was allowed, however often it is asked; moves the file's own position.
//
// The folder: what is said inside a picture file about it. Each file reads one notation (TIFF fields, XMP, IPTC, JPEG's
// tables, boxes); parts.h finds them in a file; provenance.h, one folder up, says what they mean together. All of it
// takes hostile bytes: every offset is checked, no work grows faster than the bytes, nothing recurses or throws.
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
  // The bytes must outlive it.
  explicit ByteSource(std::span<const std::uint8_t> bytes) : memory_(bytes), size_(bytes.size()) {}
  // Of a file of `size` bytes; after `most` bytes were read, there are no more.
  ByteSource(int descriptor, std::uint64_t size, std::uint64_t most)
      : descriptor_(descriptor), size_(size), most_(most) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  std::uint64_t size() const { return size_; }
  std::uint64_t bytes_read() const { return read_; }
  // Of the last read that the system refused; 0 when none was.
  int error_number() const { return error_number_; }

  // `count` bytes from `offset` on, or none when they are not all there. The span lives until the next call.
  std::span<const std::uint8_t> at(std::uint64_t offset, std::uint64_t count);

 private:
  // Headers stand close together: so much is read at once.
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
// Of at most eight bytes.
std::uint64_t number_of(std::span<const std::uint8_t> bytes, ByteOrder order);

// A part of a source, which must outlive it.
class ByteRange {
 public:
  ByteRange() = default;
  explicit ByteRange(ByteSource& source) : source_(&source), size_(source.size()) {}

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Offset in its source.
  std::uint64_t offset() const { return at_; }

  // What there is of such a part; nothing when it begins past the end.
  ByteRange part(std::uint64_t offset, std::uint64_t count = std::numeric_limits<std::uint64_t>::max()) const;
  // As ByteSource::at().
  std::span<const std::uint8_t> read(std::uint64_t offset, std::uint64_t count) const;
  // The first bytes, at most `most`.
  std::span<const std::uint8_t> first(std::uint64_t most) const { return read(0, std::min(size_, most)); }
  // A number of at most eight bytes; 0 when it is not there.
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
