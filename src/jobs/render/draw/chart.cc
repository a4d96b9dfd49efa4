#include "src/jobs/render/draw/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"
#include "src/kernels/rle/canvas.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::render {
namespace {}  // namespace

Scale::Scale(const Options& options, const Window& window, std::initializer_list<Role> roles)
    : logarithms_(options.scale == Scaling::log),
      fixed_(window.lowest < window.highest),
      lowest_(window.lowest),
      highest_(window.highest) {
  for (const Role role : roles) {
    for (const double price : window.rows[role]) include(price);
  }
}

void Scale::include(double price) {
  const double v = value(price);
  if (fixed_ || std::isnan(v)) return;
  lowest_ = any_ ? std::min(lowest_, v) : v;
  highest_ = any_ ? std::max(highest_, v) : v;
  any_ = true;
}

double Scale::value(double price) const {
  if (!logarithms_) return price;
  return price > 0 ? logarithm(price) : std::numeric_limits<double>::quiet_NaN();
}

std::unique_ptr<ChartStyle> make_style(const Options& options) {
  if (options.style == Style::ohlc) return make_bar_style(options);
  if (options.style == Style::candle) return make_candle_style(options);
  if (options.style == Style::jkx) return make_trend_style(options);
  return make_line_style(options);
}

Workspace style_workspace(const Options& options) {
  Workspace out{.host = {static_cast<std::uint64_t>(options.window) * 256}};
  const Workspace canvas = rle::Canvas::workspace(options.width, options.height);
  if (options.style != Style::line) return out + canvas;
  // A moving average has a rasterizer of its own, volume a canvas.
  out += stroke::Rasterizer::workspace(options.width, options.height) * (options.average > 0 ? 2 : 1);
  if (options.draws_volume()) out.host += {canvas.host.count / 5};
  return out;
}

std::size_t history_of(const Options& options) {
  return options.average > 0 ? static_cast<std::size_t>(options.average) - 1 : 0;
}

}  // namespace millrace::render
