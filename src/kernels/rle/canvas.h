// Input: vertical and horizontal bars of foreground, pixel by pixel, in any order; the last one drawn wins.
// Output: the image, as runs.
// Never: reads a pixel that was not drawn.
#pragma once

#include <cstdint>

#include "src/kernels/rle/rle.h"
#include "src/memory/workspace.h"

namespace millrace::rle {

// Reuses its memory from one image to the next. Used by one thread at a time.
class Canvas {
 public:
  Canvas(int width, int height);
  static Workspace workspace(int width, int height) {
    return {.host = {static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * 5 / 4}};
  }

  // Ignores pixels outside of the image.
  void dot(int x, int y, std::uint8_t level) {
    if (x < 0 || x >= width_ || y < 0 || y >= height_) return;
    const auto row = static_cast<std::size_t>(y), column = static_cast<std::size_t>(x);
    levels_[row * static_cast<std::size_t>(width_) + column] = level;
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }
  // Draws columns [x0, x1] and rows [y0, y1]; the rows may be in either order.
  void block(int x0, int x1, int y0, int y1, std::uint8_t level);

  // Writes the image of everything drawn to `out`, and clears the canvas.
  void finish(Image& out);

 private:
  int width_, height_;
  std::size_t words_;
  Buffer<std::uint8_t> levels_;  // valid only where the bit is set
  Buffer<std::uint64_t> bits_;
};

}  // namespace millrace::rle
