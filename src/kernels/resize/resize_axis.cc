#include <algorithm>
#include <cmath>

#include "src/kernels/resize/resize.h"
#include "src/kernels/resize/resize_math.h"
#include "src/kernels/resize/resize_recent.h"

namespace millrace {
namespace {

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= M_PI;
  return std::sin(x) / x;
}

double lanczos3(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

ResizeAxis compute_axis(int in, int out) {
  ResizeAxis axis;
  axis.in = in;
  axis.out = out;
  const double scale = static_cast<double>(in) / out;
  const double filter_scale = std::max(1.0, scale);
  const double support = 3.0 * filter_scale;
  const double inverse = 1.0 / filter_scale;
  axis.taps = static_cast<int>(std::ceil(support)) * 2 + 1;
  axis.first.resize(static_cast<std::size_t>(out));
  axis.count.resize(static_cast<std::size_t>(out));
  axis.weights.assign(static_cast<std::size_t>(out) * static_cast<std::size_t>(axis.taps), 0);
  std::vector<double> row(static_cast<std::size_t>(axis.taps));
  for (int x = 0; x < out; ++x) {
    const double center = (x + 0.5) * scale;
    // NOLINTBEGIN(bugprone-incorrect-roundings): as Pillow rounds
    const int first = std::max(0, static_cast<int>(center - support + 0.5));
    const int count = std::min(in, static_cast<int>(center + support + 0.5)) - first;
    // NOLINTEND(bugprone-incorrect-roundings)
    double sum = 0;
    for (int i = 0; i < count; ++i) {
      const double w = lanczos3((i + first - center + 0.5) * inverse);
      row[static_cast<std::size_t>(i)] = w;
      sum += w;
    }
    for (int i = 0; i < count; ++i) {
      double w = row[static_cast<std::size_t>(i)];
      if (sum != 0.0) w /= sum;
      const double scaled = w * (1 << kResizePrecision);
      axis.weights[static_cast<std::size_t>(x) * static_cast<std::size_t>(axis.taps) + static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(w < 0 ? scaled - 0.5 : scaled + 0.5);
    }
    axis.first[static_cast<std::size_t>(x)] = first;
    axis.count[static_cast<std::size_t>(x)] = count;
  }
  return axis;
}

}  // namespace

std::shared_ptr<const ResizeAxis> lanczos_axis(int in, int out) {
  static RecentCache<ResizeAxis> recent;
  return recent.get(in, out, [&] { return std::make_shared<const ResizeAxis>(compute_axis(in, out)); });
}

bool vertical_pass_first(int width, int height, int out_width, int out_height) {
  const long long shrink_y = static_cast<long long>(height) - out_height;
  const long long shrink_x = static_cast<long long>(width) - out_width;
  return shrink_y > 0 && shrink_y > 2 * shrink_x;
}

}  // namespace millrace
