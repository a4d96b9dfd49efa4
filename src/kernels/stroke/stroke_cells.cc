#include "src/kernels/stroke/stroke_cells.h"

#include <algorithm>
#include <bit>

namespace millrace::stroke {
namespace {

// Area in 1/65536 of a pixel as a level, rounded to nearest.
std::uint8_t level_of(std::int32_t area) {
  return static_cast<std::uint8_t>((std::clamp(area, 0, kOne) * 255 + kOne / 2) >> 16);
}

}  // namespace

void Cells::edge_beyond(std::int32_t x0, std::int32_t y0, std::int32_t x1, std::int32_t y1) {
  const std::int32_t right = width_ << 16;
  if (x0 >= right && x1 >= right) return;
  if (x0 <= 0 && x1 <= 0) return edge(0, y0, 0, y1);
  // One of the borders is crossed: the edge in two parts, each on one side of it.
  const std::int32_t border = std::min(x0, x1) < 0 ? 0 : right;
  const double share = static_cast<double>(border - x0) / static_cast<double>(x1 - x0);
  const auto y = y0 + nearest(static_cast<double>(y1 - y0) * share);
  edge(x0, y0, border, y);
  edge(border, y, x1, y1);
}

void Cells::sweep(ink::Picture& out) {
  out.begin(width_, height_);
  for (int row = 0; row <= last_row_; ++row) {
    out.begin_row();
    if (row < first_row_) continue;
    std::int32_t* sums = sums_.data() + static_cast<std::size_t>(row) * stride_;
    std::uint64_t* bits = bits_.data() + static_cast<std::size_t>(row) * words_;
    std::int32_t area = 0;
    std::uint8_t level = 0;
    int next = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t set = bits[w]; set != 0; set &= set - 1) {
        const int x = static_cast<int>(w) * 64 + std::countr_zero(set);
        if (level > 0 && x > next && next < width_) out.add_run(next, std::min(x, width_) - next, level);
        area += sums[x];
        sums[x] = 0;
        level = level_of(area);
        if (level > 0 && x < width_) out.add_literal(x, level);
        next = x + 1;
      }
      bits[w] = 0;
    }
    if (level > 0 && next < width_) out.add_run(next, width_ - next, level);
  }
  out.finish();
  first_row_ = height_;
  last_row_ = -1;
}

}  // namespace millrace::stroke
