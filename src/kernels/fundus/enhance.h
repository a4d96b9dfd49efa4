// Input: the crop of a fundus photograph, and its field of view in it.
// Output: the same with its contrast about the surround's brightness; how much there is to see in it.
// Never: lets the dark around the field of view into the brightness of what lies at its edge.
//
// Every so manieth pixel of the crop, 256 a side: outside of the circle of 0.99 radii those that an inversion at it
// maps inside, outside of lines the mirror images. Of this a Gaussian G, of a deviation of 0.05 radii, comes back to
// the crop's pixels: clamp(4 (I - G) + 0.5, 0, 1) of each channel, black outside. As retinalysis-fundusprep 1.3.0 has
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/fundus/bounds.h"

namespace millrace::fundus {

// Red, green and blue, side x side; `bounds` are in its pixels.
std::vector<std::uint8_t> enhance(const std::uint8_t* pixels, std::int32_t side, const Bounds& bounds);

// The same of a picture without a field of view: all of it that is lit (a channel above 10 of 255), by a deviation of
// 0.05 of half its side; what is dark counts as black, and is black.
std::vector<std::uint8_t> enhance_lit(const std::uint8_t* pixels, std::int32_t side);

// Of what lies inside.
struct Quality {
  double brightness = 0;  // the mean of the brightest channel, 0 to 1
  double sharpness = 0;   // how much neighbours of the green channel differ, beside how much the surround does
  double saturated = 0;   // the share of pixels of which a channel is at its end
  double visible = 1;     // the share of the circle that the photograph shows
};
Quality quality_of(const std::uint8_t* pixels, std::int32_t side, const Bounds& bounds);

}  // namespace millrace::fundus
