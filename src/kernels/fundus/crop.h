// Enters: a photograph of a fundus and its field of view.
// Leaves: the square around the field of view at a side of one's choice, and the way back: of points, masks and
//   probabilities to the photograph's own pixels.
// Never: changes what is not asked for; reads outside of either.
//
// A point p of the photograph becomes (p - center) * scale + side / 2, with scale = side / (2 radius); the middle of
// the first pixel is (0, 0) in both. Bilinear, from places to a 32nd of a pixel, as OpenCV's warps have it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/fundus/bounds.h"

namespace millrace::fundus {

// Rows without gaps, red, green and blue of 8 bits.
struct Photograph {
  const std::uint8_t* pixels = nullptr;
  std::int32_t width = 0, height = 0;

  Plane red() const { return {pixels, std::ptrdiff_t{3} * width, 3, width, height}; }
};

struct Crop {
  Point center;
  double scale = 1;
  std::int32_t side = 0;

  Point from_photograph(const Point& p) const;
  Point to_photograph(const Point& p) const;
  // The same, of what is known of the photograph.
  Bounds from_photograph(const Bounds& bounds) const;
};
Crop crop_of(const Bounds& bounds, std::int32_t side);

// side x side, three bytes a pixel; what lies outside of the photograph is black.
std::vector<std::uint8_t> crop(const Photograph& photograph, const Crop& how);

// Of a mask or a plane of probabilities of the crop, side x side, the pixels of the photograph, width x height; those
// outside of the crop are 0. A mask's are the nearest ones, probabilities' bilinear.
std::vector<std::uint8_t> mask_to_photograph(const std::uint8_t* mask, const Crop& how, std::int32_t width,
                                             std::int32_t height);
std::vector<float> plane_to_photograph(const float* plane, const Crop& how, std::int32_t width, std::int32_t height);

}  // namespace millrace::fundus
