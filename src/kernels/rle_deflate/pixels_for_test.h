// Input: none.
// Output: pixel encodings of every size in which charts are stored.
// Never: is used outside of tests.
#pragma once

#include <vector>

#include "src/kernels/rle/pixels.h"

namespace millrace::rle_deflate {

// Returns encodings of 1, 3, 4 and 12 bytes per pixel.
inline std::vector<rle::EncodedLevels> all_pixels() {
  const rle::ColourTable gray = rle::colour_table({255, 255, 255}, {0, 0, 0}),
                         coloured = rle::colour_table({250, 240, 3}, {9, 0, 130});
  return {rle::encoded_levels(gray, 1, rle::SampleDepth::bytes),
          rle::encoded_levels(coloured, 3, rle::SampleDepth::bytes),
          rle::encoded_levels(gray, 1, rle::SampleDepth::floats),
          rle::encoded_levels(coloured, 3, rle::SampleDepth::floats)};
}

}  // namespace millrace::rle_deflate
