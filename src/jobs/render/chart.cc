#include "src/jobs/render/chart.h"

#include <algorithm>
#include <cmath>

namespace millrace::render {
namespace {

// The natural logarithm to about 2e-16, from basic operations alone: a library's differs from processor to processor.
double logarithm(double v) {
  int exponent = 0;
  double m = std::frexp(v, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 artanh s, |s| < 0.172.
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return 2 * s * sum + exponent * 0.69314718055994531;
}

}  // namespace

ChartPen::ChartPen(const Options& options)
    : width_(options.width),
      height_(options.height),
      logarithms_(options.scale == "log"),
      pen_(options.width, options.height, options.line_pixels()) {}

std::size_t ChartPen::memory_needed(const Options& options) {
  return stroke::Pen::memory_needed(options.width, options.height) +
         static_cast<std::size_t>(options.window) * (sizeof(double) + sizeof(stroke::Point)) * 4;
}

void ChartPen::draw(std::span<const double> prices, double lowest, double highest, ink::Picture& out) {
  std::span<const double> values = prices;
  if (logarithms_) {
    values_.assign(prices.begin(), prices.end());
    // A price of 0 or less has no logarithm: a gap.
    for (double& v : values_) v = v > 0 ? logarithm(v) : std::nan("");
    values = values_;
  }
  if (!(lowest < highest)) {
    bool any = false;
    for (const double v : values) {
      if (std::isnan(v)) continue;
      lowest = any ? std::min(lowest, v) : v;
      highest = any ? std::max(highest, v) : v;
      any = true;
    }
  }
  const std::size_t n = values.size();
  const double step = n > 1 ? (width_ - 1) / static_cast<double>(n - 1) : 0;
  const double range = highest - lowest;
  points_.clear();
  for (std::size_t i = 0; i <= n; ++i) {
    if (i == n || std::isnan(values[i])) {
      pen_.line(points_);
      points_.clear();
      continue;
    }
    const double x = n == 1 ? 0.5 * (width_ - 1) : (i + 1 == n ? width_ - 1 : static_cast<double>(i) * step);
    const double norm = range > 0 ? (values[i] - lowest) / range : 0.5;
    points_.push_back({x, (1 - norm) * (height_ - 1)});
  }
  pen_.finish(out);
}

}  // namespace millrace::render
