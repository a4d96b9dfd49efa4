#include "src/kernels/rle/canvas.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace millrace::rle {

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      words_((static_cast<std::size_t>(width) + 63) / 64),
      levels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
      bits_(words_ * static_cast<std::size_t>(height)) {
  std::memset(bits_.data(), 0, bits_.size() * sizeof(std::uint64_t));
}

void Canvas::block(int x0, int x1, int y0, int y1, std::uint8_t level) {
  if (y0 > y1) std::swap(y0, y1);
  for (int y = std::max(0, y0); y <= std::min(y1, height_ - 1); ++y) {
    for (int x = x0; x <= x1; ++x) dot(x, y, level);
  }
}

void Canvas::finish(Image& out) {
  out.begin(width_, height_);
  for (int y = 0; y < height_; ++y) {
    const std::uint8_t* levels = levels_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width_);
    std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(y) * words_;
    out.begin_row();
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t set = std::exchange(bits[w], 0); set != 0; set &= set - 1) {
        const int x = static_cast<int>(w) * 64 + std::countr_zero(set);
        out.add_literal(x, levels[x]);
      }
    }
  }
  out.finish();
}

}  // namespace millrace::rle
