// The device code repeats this operation by operation: body/values.inc, numbers.inc and paint.inc.
#include "src/kernels/chart/chart_indicators.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace millrace::chart {

double round_even(double v) {
  const double down = std::floor(v), part = v - down;
  if (part != 0.5) return part < 0.5 ? down : down + 1;
  return std::floor(down / 2) * 2 == down ? down : down + 1;
}

void compute_moving_average(const ChartSpec& spec, const ChartWindow& window, std::vector<double>& out) {
  out.clear();
  if (spec.average == 0) return;
  const std::vector<double>&before = window.before, &close = window.rows[kClose];
  const std::size_t length = spec.average;
  for (std::size_t row = 0; row < close.size(); ++row) {
    const std::size_t end = before.size() + row + 1;
    double sum = end < length ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::size_t i = end < length ? end : end - length; i < end; ++i) {
      sum += i < before.size() ? before[i] : close[i - before.size()];
    }
    out.push_back(sum / static_cast<double>(length));
  }
}

void draw_volume(const ChartWindow& window, const PixelRows& rows, int height, std::uint8_t level,
                 const std::function<BarColumns(std::size_t)>& columns, rle::Canvas& canvas) {
  const std::vector<double>& volume = window.rows[kVolume];
  double most = 0;
  for (const double v : volume) most = std::isnan(v) ? most : std::max(most, v);
  for (std::size_t row = 0; row < volume.size(); ++row) {
    if (!(volume[row] > 0)) continue;
    const int high = static_cast<int>(round_even(volume[row] * rows.volume / most));
    const BarColumns at = columns(row);
    if (high > 0) canvas.block(at.first, at.last, height - high, height - 1, level);
  }
}

}  // namespace millrace::chart
