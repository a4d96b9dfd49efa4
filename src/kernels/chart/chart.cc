#include "src/kernels/chart/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"
#include "src/kernels/rle/canvas.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::chart {

PriceScale::PriceScale(const ChartSpec& spec, const ChartWindow& window, std::initializer_list<PriceColumn> roles)
    : logarithms_(spec.logarithms),
      fixed_(window.lowest < window.highest),
      lowest_(window.lowest),
      highest_(window.highest) {
  for (const PriceColumn role : roles) {
    for (const double price : window.rows[role]) include(price);
  }
}

void PriceScale::include(double price) {
  const double v = value(price);
  if (fixed_ || std::isnan(v)) return;
  lowest_ = any_ ? std::min(lowest_, v) : v;
  highest_ = any_ ? std::max(highest_, v) : v;
  any_ = true;
}

double PriceScale::value(double price) const {
  if (!logarithms_) return price;
  return price > 0 ? logarithm(price) : std::numeric_limits<double>::quiet_NaN();
}

std::unique_ptr<ChartStyle> make_style(const ChartSpec& spec) {
  if (spec.style == Style::ohlc) return make_bar_style(spec);
  if (spec.style == Style::candle) return make_candle_style(spec);
  if (spec.style == Style::jkx) return make_trend_style(spec);
  return make_line_style(spec);
}

Workspace style_workspace(const ChartSpec& spec) {
  Workspace out{.host = {static_cast<std::uint64_t>(spec.rows) * 256}};
  const Workspace canvas = rle::Canvas::workspace(spec.width, spec.height);
  if (spec.style != Style::line) return out + canvas;
  // A moving average has its own rasterizer, volume a canvas.
  out += stroke::Rasterizer::workspace(spec.width, spec.height) * (spec.average > 0 ? 2 : 1);
  if (spec.volume) out.host += {canvas.host.count / 5};
  return out;
}

std::vector<PriceColumn> price_columns_of(const ChartSpec& spec) {
  std::vector<PriceColumn> out = {kClose};
  if (spec.style != Style::line) out = {kOpen, kHigh, kLow, kClose};
  if (spec.volume) out.push_back(kVolume);
  return out;
}

}  // namespace millrace::chart
