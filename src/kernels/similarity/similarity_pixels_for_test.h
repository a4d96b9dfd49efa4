// Input: thumbnails that tests paint.
// Output: their colours, the index of a pixel, and the comparison of two thumbnails.
// Never: part of the program.
#pragma once

#include "src/kernels/similarity/similarity.h"

namespace millrace::similarity {

struct Colour {
  float r, g, b;
};

// Returns the index of a pixel's first channel.
inline std::size_t at(int x, int y) { return (static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x)) * 3; }

inline Comparison compare_pixels(const Thumbnail& a, const Thumbnail& b) {
  return compare(features_of(a), features_of(b));
}

}  // namespace millrace::similarity
