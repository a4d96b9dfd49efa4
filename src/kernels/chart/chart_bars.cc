// The device code repeats this operation by operation: body/values.inc and paint.inc.
#include <algorithm>
#include <cmath>

#include "src/kernels/chart/chart_indicators.h"

namespace millrace::chart {
namespace {

// Pixel rows of a bar's four prices.
struct Bar {
  int open, high, low, close;
  bool rises;
};

// Base of bars and candles: the mapping of prices to pixel rows.
class BarStyle : public ChartStyle {
 public:
  explicit BarStyle(const ChartSpec& spec) : spec_(spec), rows_(spec), canvas_(spec.width, spec.height) {}

  void draw(const ChartWindow& window, rle::Image& out) override {
    compute_moving_average(spec_, window, averages_);
    PriceScale scale(spec_, window, {kOpen, kHigh, kLow, kClose});
    for (const double v : averages_) scale.include(v);
    // docs/design/strokes.md gives the reasons for the constants of this file.
    const double range = std::max(scale.highest() - scale.lowest(), 1e-8);
    const auto row = [&](double v) { return static_cast<int>((scale.highest() - v) * (rows_.price - 1) / range); };
    const std::size_t n = window.rows[kClose].size();
    for (std::size_t i = 0; i < averages_.size(); ++i) draw_average(i, n, scale, row);
    for (std::size_t i = 0; i < n; ++i) {
      std::array<double, 4> v;
      bool whole = true;
      for (const PriceColumn role : {kOpen, kHigh, kLow, kClose}) {
        v[role] = scale.value(window.rows[role][i]);
        whole = whole && !std::isnan(v[role]);
      }
      if (!whole) continue;
      put(i, n, {row(v[kOpen]), row(v[kHigh]), row(v[kLow]), row(v[kClose]), v[kClose] >= v[kOpen]});
    }
    if (rows_.volume > 0) {
      const auto columns = [&](std::size_t i) { return body(i, n); };
      draw_volume(window, rows_, spec_.height, kVolumeLevel, columns, canvas_);
    }
    canvas_.finish(out);
  }

 protected:
  virtual void put(std::size_t i, std::size_t n, const Bar& bar) = 0;
  virtual BarColumns body(std::size_t i, std::size_t n) const = 0;
  virtual int middle(std::size_t i, std::size_t n) const = 0;

  const ChartSpec spec_;
  const PixelRows rows_;
  rle::Canvas canvas_;

 private:
  // Draws the average from one row's column to the next one's.
  template <typename RowOf>
  void draw_average(std::size_t i, std::size_t n, const PriceScale& scale, const RowOf& row) {
    const double now = scale.value(averages_[i]);
    if (std::isnan(now)) return;
    const int x = middle(i, n);
    canvas_.dot(x, row(now), rle::kFull);
    const double next = i + 1 < averages_.size() ? scale.value(averages_[i + 1]) : now;
    if (i + 1 == averages_.size() || std::isnan(next)) return;
    const int columns = middle(i + 1, n) - x;
    for (int k = 1; k < columns; ++k) canvas_.dot(x + k, row((next - now) / columns * k + now), rle::kFull);
  }

  std::vector<double> averages_;
};

class OhlcStyle : public BarStyle {
 public:
  using BarStyle::BarStyle;

 protected:
  void put(std::size_t i, std::size_t, const Bar& bar) override {
    const int x = static_cast<int>(4 * i);
    const std::uint8_t level = bar.rises ? kRising : kFalling;
    canvas_.dot(x, bar.open, level);
    canvas_.block(x + 1, x + 1, bar.high, bar.low, level);
    canvas_.dot(x + 2, bar.close, level);
  }
  BarColumns body(std::size_t i, std::size_t) const override {
    const int x = static_cast<int>(4 * i);
    return {x, x + 2};
  }
  int middle(std::size_t i, std::size_t) const override { return static_cast<int>(4 * i) + 1; }
};

class CandleStyle : public BarStyle {
 public:
  using BarStyle::BarStyle;

 protected:
  void put(std::size_t i, std::size_t n, const Bar& bar) override {
    const int wick = middle(i, n);
    const BarColumns columns = body(i, n);
    canvas_.block(wick, wick, bar.high, bar.low, rle::kFull);
    canvas_.block(columns.first, columns.last, bar.open, bar.close, bar.rises ? kRising : kFalling);
  }
  BarColumns body(std::size_t i, std::size_t n) const override {
    const double slot = spec_.width / static_cast<double>(n), centre = (static_cast<double>(i) + 0.5) * slot;
    // A body narrower than a pixel is drawn in the wick's column.
    if (0.8 * slot < 1) return {middle(i, n), middle(i, n)};
    const int left = static_cast<int>(centre - 0.4 * slot + 0.5);
    return {left, std::max(left, static_cast<int>(centre + 0.4 * slot + 0.5) - 1)};
  }
  int middle(std::size_t i, std::size_t n) const override {
    return static_cast<int>((static_cast<double>(i) + 0.5) * (spec_.width / static_cast<double>(n)));
  }
};

}  // namespace

std::unique_ptr<ChartStyle> make_bar_style(const ChartSpec& spec) { return std::make_unique<OhlcStyle>(spec); }
std::unique_ptr<ChartStyle> make_candle_style(const ChartSpec& spec) { return std::make_unique<CandleStyle>(spec); }

}  // namespace millrace::chart
