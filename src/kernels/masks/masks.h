// Input: a mask, small or of a picture's own size, and rows of pictures.
// Output: the mask enlarged, and two pictures mixed by it.
// Never: uses floating point, except to convert probabilities: every number is the same at every CPU level.
//
// A mask's value is the share of a pixel that is foreground: 0 nothing, kOne all of it. Enlarging is bilinear. Pixels
// are squares whose value stands in the middle, as in PyTorch's interpolate(align_corners=False) and OpenCV's
// INTER_LINEAR. Pixels outside repeat the nearest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::masks {

inline constexpr std::uint16_t kOne = 1 << 14;

// Converts probabilities to a mask, rounded to the nearest step; NaN becomes 0.
void from_probabilities(const float* probabilities, std::uint16_t* mask, std::size_t count);

// Source of an enlarged row or column: its value is v(i) + (v(i + 1) - v(i)) * weight / kOne, where i is `from`.
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
// Same for samples of up to 16 bits.
void blend(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask, std::uint16_t* out,
           std::size_t count);
void blend_reference(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask,
                     std::uint16_t* out, std::size_t count);

// Computes the mask of chroma: the mean of `columns` (1, 2 or 4) by two given rows, or of one row given twice, rounded
// half up. `width` is that of the rows. If it is no multiple of `columns`, the last value is the mean of the samples
// that remain.
void shrink(const std::uint16_t* above, const std::uint16_t* below, int columns, std::uint16_t* out, std::size_t width);

// Enlarges a mask to a picture's size, one row after the other. For one thread at a time.
class Enlarger {
 public:
  Enlarger(std::int32_t from_width, std::int32_t from_height, std::int32_t to_width, std::int32_t to_height);

  // Uses this mask from now on; it must live as long as rows are requested.
  void begin(const std::uint16_t* mask);
  // Writes row y; rows from top to bottom cost the least.
  void row(std::int32_t y, std::uint16_t* out);

 private:
  const std::vector<std::uint16_t>& wide(std::int32_t y);

  std::int32_t width_, height_;
  std::vector<Tap> x_, y_;
  const std::uint16_t* mask_ = nullptr;
  // Two rows of the mask, as wide as the picture: the latest even and the latest odd one.
  std::vector<std::uint16_t> wide_[2];
  std::int32_t which_[2] = {-1, -1};
};

}  // namespace millrace::masks
