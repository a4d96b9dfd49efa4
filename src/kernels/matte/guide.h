// Input: a mask, and the picture that it is of.
// Output: the mask with its edge where the picture's is.
// Never: depends on threads or a CPU's level: sums are in whole numbers, and each pixel's own arithmetic is in one
// order.
//
// The fast guided filter (He and Sun 2015, arXiv 1505.00996): in windows of 2 r + 1 pixels the mask is taken for a
// linear function of the picture's luma, a I + b, fitted on a picture four times smaller, and enlarged bilinearly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/matte/matte.h"

namespace millrace::matte {

struct Guide {
  const std::uint8_t* rows = nullptr;  // samples of one byte, or of two, as numbers of `depth` bits
  std::size_t stride = 0;              // bytes
  std::uint32_t depth = 8;
};

struct GuideWorkspace {
  std::vector<std::uint16_t> luma, small;
  std::vector<std::uint64_t> sums[4];
  std::vector<float> a, b, row_a, row_b;
};

// `radius` in pixels, from 4 on; `edge` is the contrast, of 1, from which on an edge counts.
void guide(std::uint16_t* mask, std::int32_t width, std::int32_t height, const Guide& picture, int radius, double edge,
           GuideWorkspace& workspace);

}  // namespace millrace::matte
