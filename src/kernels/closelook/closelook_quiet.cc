#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {

bool Pair::is_quiet(const Affine& warp) {
  Plane& moved = fitting.warped;
  moved.size(soft_a.width(), soft_a.height());
  warp_linear(soft_b, warp, moved);
  const Plane &target = soft_a, &source = soft_b;
  constexpr int kCell = 4;
  enum { squares, first, first_squares, second, second_squares, counted, kSums };
  const int w = target.width(), cells_x = w / kCell, cells_y = target.height() / kCell;
  const auto wide = static_cast<std::size_t>(w);
  std::vector<float> columns(kSums * wide), cells(2 * kSums * static_cast<std::size_t>(cells_x));
  for (int cy = 0; cy < cells_y; ++cy) {
    std::fill(columns.begin(), columns.end(), 0.0F);
    for (int y = cy * kCell; y < (cy + 1) * kCell; ++y) {
      const Span1 in = inside_row(warp, y, w, source.width(), source.height(), 0.5);
      const float *a = target.row(y), *b = moved.row(y);
      const auto add = [&](int sum, const auto& value) {
        float* const to = columns.data() + static_cast<std::size_t>(sum) * wide;
        for (int x = in.begin; x < in.end; ++x) to[x] += value(x);
      };
      add(squares, [&](int x) { return (a[x] - b[x]) * (a[x] - b[x]); });
      add(first, [&](int x) { return a[x]; });
      add(first_squares, [&](int x) { return a[x] * a[x]; });
      add(second, [&](int x) { return b[x]; });
      add(second_squares, [&](int x) { return b[x] * b[x]; });
      add(counted, [&](int) { return 1.0F; });
    }
    const auto cell = [&](int row, int sum, int x) -> float& {
      return cells[static_cast<std::size_t>(((row % 2) * kSums + sum) * cells_x + x)];
    };
    for (int sum = 0; sum < kSums; ++sum) {
      const float* c = columns.data() + static_cast<std::size_t>(sum) * wide;
      for (int x = 0; x < cells_x; ++x, c += kCell) cell(cy, sum, x) = (c[0] + c[1]) + (c[2] + c[3]);
    }
    for (int x = 0; cy > 0 && x + 1 < cells_x; ++x) {
      const auto of = [&](int sum) {
        return (cell(cy - 1, sum, x) + cell(cy - 1, sum, x + 1)) + (cell(cy, sum, x) + cell(cy, sum, x + 1));
      };
      const float n = of(counted);
      if (n == 0) continue;
      const auto variance = [&](int sum, int square) {
        const float mean = of(sum) / n;
        return std::max(0.0F, of(square) / n - mean * mean);
      };
      constexpr float kWhole = 4 * kCell * kCell, kNoise = 1.5F, kShare = 0.06F;
      const float activity =
          n < kWhole ? 0
                     : saturated(std::sqrt(std::min(variance(first, first_squares), variance(second, second_squares))));
      const float most = Figures::kSoft * Figures::kSoft * (kNoise * kNoise + kShare * kShare * activity * activity);
      if (of(squares) / n > most) return false;
    }
  }
  return true;
}

}  // namespace millrace::closelook
