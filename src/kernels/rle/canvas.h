// Input: upright and level pieces of ink, pixel by pixel, in any order; the last one stays.
// Output: the picture, as runs.
// Never: looks at a pixel that nobody drew.
#pragma once

#include <cstdint>

#include "src/kernels/rle/rle.h"
#include "src/memory/workspace.h"

namespace millrace::rle {

// Holds what it needs from one picture to the next. One thread at a time.
class Canvas {
 public:
  Canvas(int width, int height);
  static Workspace workspace(int width, int height) {
    return {.host = {static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * 5 / 4}};
  }

  // What lies outside is left out.
  void dot(int x, int y, std::uint8_t level) {
    if (x < 0 || x >= width_ || y < 0 || y >= height_) return;
    const auto row = static_cast<std::size_t>(y), column = static_cast<std::size_t>(x);
    levels_[row * static_cast<std::size_t>(width_) + column] = level;
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }
  // Of columns [x0, x1] and rows [y0, y1], in either order of the rows.
  void block(int x0, int x1, int y0, int y1, std::uint8_t level);

  // The picture of all pieces, which are gone afterwards.
  void finish(Image& out);

 private:
  int width_, height_;
  std::size_t words_;
  Buffer<std::uint8_t> levels_;  // set where a bit is
  Buffer<std::uint64_t> bits_;
};

}  // namespace millrace::rle
