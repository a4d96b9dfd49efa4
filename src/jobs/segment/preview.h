// Input: rows of labels of a mask, as they become known.
// Output: the mask at the size for a report page, small enough for a record.
// Never: loses thin structures: a quarter of a block is enough to be shown.
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
  // `labels` is the number of labels in the mask. Blocks of pixels become single pixels, so that no side exceeds
  // kMaxSide.
  Preview(std::int64_t width, std::int64_t height, std::size_t labels);
  static constexpr std::int64_t kMaxSide = 640;
  static std::size_t block_of(std::int64_t width, std::int64_t height);  // side of a block
  static std::uint64_t bytes(std::int64_t width, std::int64_t height, std::size_t labels);

  void append(std::span<const std::uint8_t> row);
  // Returns the state so far as text.
  std::string save() const;
  // Restores a state that has `rows` rows of the mask. Throws Failure(bad_data) if the text is not such a state.
  void restore(const std::string& resume_state, std::uint64_t rows);
  SmallMask finish();

 private:
  void end_block();

  const std::size_t width_, block_, columns_, labels_;
  std::vector<std::uint32_t> counts_;  // [columns, labels] of the current row of blocks
  std::size_t rows_ = 0;               // rows of the mask in these blocks
  std::vector<std::uint8_t> out_;
};

// Converts a mask to deflated base64 and back. Throws Failure(bad_data) if the text is not such a mask.
std::string text_of(const SmallMask& mask);
SmallMask parse_small_mask(std::uint32_t width, std::uint32_t height, const std::string& text);

}  // namespace millrace::segment
