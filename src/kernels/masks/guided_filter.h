// Input: a mask, and the picture that it belongs to.
// Output: the mask with its edge moved to the picture's.
// Never: depends on threads or a CPU's level: sums are in whole numbers, and each pixel's own arithmetic is in one
// order.
//
// Method: the fast guided filter (He and Sun 2015, arXiv 1505.00996). In windows of 2 r + 1 pixels the mask is modelled
// as a linear function of the picture's luma, a I + b. It is fitted on a picture four times smaller, and enlarged
// bilinearly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/kernels/masks/masks.h"

namespace millrace::masks {

struct GuideImage {
  const std::uint8_t* rows = nullptr;  // samples of one byte, or of two, as numbers of `depth` bits
  std::size_t stride = 0;              // bytes from a row to the next
  std::uint32_t depth = 8;
};

struct GuideWorkspace {
  std::vector<std::uint16_t> luma, small;
  std::vector<std::uint64_t> sums[4];
  std::vector<float> a, b, row_a, row_b;
};

// Moves the mask's edge. `radius` is in pixels, from 4 on; `edge` is the contrast, of 1, from which on an edge counts.
void guide(std::uint16_t* mask, std::int32_t width, std::int32_t height, const GuideImage& picture, int radius,
           double edge, GuideWorkspace& workspace);

}  // namespace millrace::masks
