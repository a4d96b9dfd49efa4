// Input: images.
// Output: a combined image, one over the other or one below the other.
// Never: blends: of two levels in a pixel, the higher one is kept.
#pragma once

#include <vector>

#include "src/kernels/rle/rle.h"

namespace millrace::rle {

// Appends the rows of `from` to an image of the same width that has been begun.
void append_rows(const Image& from, Image& to);
// Appends the rows of two images of the same size, one over the other.
class Overlay {
 public:
  void append(const Image& a, const Image& b, Image& to);

 private:
  std::vector<std::uint8_t> row_;
};

}  // namespace millrace::rle
