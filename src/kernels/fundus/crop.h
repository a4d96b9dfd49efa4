// Input: a photograph of a fundus and its field of view.
// Output: the square around the field of view at a chosen side, and the map back: of points and probabilities to the
// photograph's own pixels.
// Never: changes pixels that were not requested, or reads outside of either.
//
// A point p of the photograph becomes (p - center) * scale + side / 2, with scale = side / (2 radius). The middle of
// the first pixel is (0, 0) in both. Sampling is bilinear, at positions to a 32nd of a pixel, as in OpenCV's warps.
#pragma once

#include <cstdint>
#include <vector>

#include "src/kernels/fundus/field_bounds.h"

namespace millrace::fundus {

// Decoded photograph: rows without gaps, red, green and blue of 8 bits.
struct Photograph {
  const std::uint8_t* pixels = nullptr;
  std::int32_t width = 0, height = 0;

  BytePlane red() const { return {pixels, std::ptrdiff_t{3} * width, 3, width, height}; }
};

struct FundusCrop {
  FundusPoint center;
  double scale = 1;
  std::int32_t side = 0;

  FundusPoint from_photograph(const FundusPoint& p) const;
  FundusPoint to_photograph(const FundusPoint& p) const;
  // Returns the photograph's bounds in pixels of the crop.
  FieldBounds from_photograph(const FieldBounds& bounds) const;
};
FundusCrop make_crop(const FieldBounds& bounds, std::int32_t side);

// Returns side x side pixels of three bytes; pixels outside of the photograph are black.
std::vector<std::uint8_t> crop(const Photograph& photograph, const FundusCrop& how);

// Returns the square around all of a photograph: its longer side fills it, the shorter one is padded.
FundusCrop make_whole_crop(std::int32_t width, std::int32_t height, std::int32_t side);

// Maps planes of the crop, side x side, back to rows of the photograph, bilinearly. Values outside of the crop are 0. A
// mask is made of probabilities that were mapped back.
class CropInverse {
 public:
  CropInverse(const FundusCrop& how, std::int32_t width, std::int32_t height);

  // Writes row y, `width` values.
  void row(const float* plane, std::int32_t y, float* out) const;
  // True if a pixel lies in the crop.
  bool has(std::int32_t x, std::int32_t y) const {
    return columns_[static_cast<std::size_t>(x)].first >= 0 && rows_[static_cast<std::size_t>(y)].first >= 0;
  }

 private:
  // Two neighbours and a weight; -1 outside of the crop.
  struct Tap {
    std::int32_t first = -1, second = -1;
    float weight = 0;  // weight of the second
  };
  static std::vector<Tap> taps(std::int32_t count, double offset, double step, std::int32_t side);

  const std::int32_t side_;
  std::vector<Tap> columns_, rows_;
};

}  // namespace millrace::fundus
