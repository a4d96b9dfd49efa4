// Input: a range of a file that consists of boxes (ISO/IEC 14496-12).
// Output: its boxes, and the numbers in them.
// Never: reads past the range; visits more than a few thousand boxes of one list, as each may need a read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "src/io/image/metadata/byte_range.h"

namespace millrace {

// Calls `see(type, contents)` for every complete box.
template <typename See>
void for_each_box(ByteRange boxes, See see) {
  constexpr int kMaxBoxes = 4096;
  std::uint64_t at = 0;
  for (int count = 0; count < kMaxBoxes; ++count) {
    if (boxes.read(at, 8).empty()) return;
    std::uint64_t size = boxes.number(at, 4), head = 8;
    const std::string type(as_text(boxes.read(at + 4, 4)));
    if (size == 1) {
      size = boxes.number(at + 8, 8);
      head = 16;
    } else if (size == 0) {
      size = boxes.size() - at;
    }
    if (size < head || size > boxes.size() - at) return;
    see(type, boxes.part(at + head, size - head));
    at += size;
  }
}

// Reads numbers one after the other. Past the end they are 0, and good() is false.
class BoxNumberReader {
 public:
  explicit BoxNumberReader(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  std::uint64_t take(std::uint64_t bytes) {
    if (bytes > left_.size()) {
      good_ = false;
      return 0;
    }
    const std::uint64_t value = number_of(left_.first(bytes), ByteOrder::big);
    left_ = left_.subspan(bytes);
    return value;
  }
  bool good() const { return good_; }

 private:
  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

}  // namespace millrace
