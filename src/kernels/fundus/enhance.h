// Input: the crop of a fundus photograph, and its field of view in it.
// Output: the crop with its contrast about the surround's brightness; measures of how much it shows.
// Never: lets the dark around the field of view affect the brightness of what lies at its edge.
//
// Method: the crop is sampled at equal steps, 256 a side. Outside of the circle of 0.99 radii, samples are the pixels
// that an inversion at it maps inside. Outside of lines they are the mirror images. A Gaussian G of these samples, with
// a standard deviation of 0.05 radii, is enlarged to the crop's pixels. The result is clamp(4 (I - G) + 0.5, 0, 1) of
// each channel, black outside, as in retinalysis-fundusprep 1.3.0.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/fundus/field_bounds.h"

namespace millrace::fundus {

// Returns the enhanced crop. Pixels are red, green and blue, side x side; `bounds` are in its pixels.
std::vector<std::uint8_t> enhance(const std::uint8_t* pixels, std::int32_t side, const FieldBounds& bounds);

// Same for a picture without a field of view. Pixels count if they are lit (a channel above 10 of 255), and the
// deviation is 0.05 of half its side. Dark pixels count as black, and become black.
std::vector<std::uint8_t> enhance_lit(const std::uint8_t* pixels, std::int32_t side);

// Measures of what lies inside the field of view.
struct FundusQuality {
  double brightness = 0;  // mean of the brightest channel, 0 to 1
  double sharpness = 0;   // difference between neighbours of the green channel, over that of pixels farther apart
  double saturated = 0;   // share of pixels with a channel at its maximum
  double visible = 1;     // share of the circle that the photograph shows
};
FundusQuality measure_quality(const std::uint8_t* pixels, std::int32_t side, const FieldBounds& bounds);

}  // namespace millrace::fundus
