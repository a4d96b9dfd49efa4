// Input: pictures.
// Output: one picture of them, over each other or one below the other.
// Never: mixes: of two levels in a pixel, the higher one stays.
#pragma once

#include <vector>

#include "src/kernels/rle/rle.h"

namespace millrace::rle {

// Adds the rows of `from` to a picture of the same width that has been begun.
void append_rows(const Image& from, Image& to);
// The same of two pictures of one size, over each other.
class Overlay {
 public:
  void append(const Image& a, const Image& b, Image& to);

 private:
  std::vector<std::uint8_t> row_;
};

}  // namespace millrace::rle
