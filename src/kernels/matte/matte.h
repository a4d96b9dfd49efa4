// Input: a mask, small or of a picture's own size, and rows of pictures.
// Output: the mask enlarged, and two pictures mixed by it.
// Never: works in floating point: every number is the same at every CPU level.
//
// A mask's value is how much of a pixel is in front: 0 nothing, kOne all of it. Enlarging is bilinear, pixels being
// squares whose value stands in the middle, as PyTorch's interpolate(align_corners=False) and OpenCV's INTER_LINEAR
// have it; what lies outside is as the nearest pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::matte {

inline constexpr std::uint16_t kOne = 1 << 14;

// Of probabilities: rounded to the nearest step; what is no number is 0.
void from_probabilities(const float* probabilities, std::uint16_t* mask, std::size_t count);

// Where an enlarged row or column takes its value from: of(i) + (of(i + 1) - of(i)) * weight / kOne.
struct Tap {
  std::int32_t from = 0;
  std::uint16_t weight = 0;  // below kOne
};
std::vector<Tap> taps(std::int32_t from, std::int32_t to);

// out = a + (b - a) * weight / kOne, rounded half up; weight < kOne. `out` may be `a` or `b`.
void mix(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out, std::size_t count);
void mix_reference(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out,
                   std::size_t count);

// out = back + (front - back) * mask / kOne, rounded half up. `out` may be `back` or `front`.
void blend(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
           std::size_t count);
void blend_reference(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
                     std::size_t count);
// Of samples of up to 16 bits.
void blend(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask, std::uint16_t* out,
           std::size_t count);
void blend_reference(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask,
                     std::uint16_t* out, std::size_t count);

// The mask of chroma: the mean of `columns` (1, 2 or 4) by two given rows, or of one row given twice; rounded half up.
// The last ones of a row that is no multiple are of what is there. `width` is of the rows.
void shrink(const std::uint16_t* above, const std::uint16_t* below, int columns, std::uint16_t* out, std::size_t width);

// Rows of a mask enlarged to a picture's size, one after the other. One thread at a time.
class Enlarger {
 public:
  Enlarger(std::int32_t from_width, std::int32_t from_height, std::int32_t to_width, std::int32_t to_height);

  // Of this mask from now on; it must live as long as rows are asked for.
  void begin(const std::uint16_t* mask);
  // Rows from top to bottom cost the least.
  void row(std::int32_t y, std::uint16_t* out);

 private:
  const std::vector<std::uint16_t>& wide(std::int32_t y);

  std::int32_t width_, height_;
  std::vector<Tap> x_, y_;
  const std::uint16_t* mask_ = nullptr;
  // Two rows of the mask as wide as the picture: of even and of odd rows.
  std::vector<std::uint16_t> wide_[2];
  std::int32_t which_[2] = {-1, -1};
};

}  // namespace millrace::matte
