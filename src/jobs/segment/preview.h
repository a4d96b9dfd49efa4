// Input: rows of labels of a mask, as they become known.
// Output: the mask at a size for a page, small enough to lie in a record.
// Never: loses what is thin: a quarter of a block is enough to be seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace millrace::segment {

struct SmallMask {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> labels;
};

class Preview {
 public:
  // Of a mask of so many labels. Blocks of it become pixels, such that neither side is longer than kMostSide.
  Preview(std::int64_t width, std::int64_t height, std::size_t labels);
  static constexpr std::int64_t kMostSide = 640;
  static std::size_t block_of(std::int64_t width, std::int64_t height);  // its side
  static std::uint64_t bytes(std::int64_t width, std::int64_t height, std::size_t labels);

  void append(std::span<const std::uint8_t> row);
  // What there is so far, as text; and back. Failure(bad_data) where it is something else.
  std::string save() const;
  // Of so many rows of the mask.
  void restore(const std::string& saved, std::uint64_t rows);
  SmallMask finish();

 private:
  void end_block();

  const std::size_t width_, block_, columns_, labels_;
  std::vector<std::uint32_t> counts_;  // [columns, labels] of the blocks that rows are being added to
  std::size_t rows_ = 0;               // of the mask in these
  std::vector<std::uint8_t> out_;
};

// Deflated, in base64; and back. Failure(bad_data) where it is something else.
std::string text_of(const SmallMask& mask);
SmallMask small_mask_of(std::uint32_t width, std::uint32_t height, const std::string& text);

}  // namespace millrace::segment
