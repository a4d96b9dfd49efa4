// The device code repeats this operation by operation: body/values.inc and paint.inc.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/chart/chart_indicators.h"
#include "src/kernels/rle/canvas.h"

namespace millrace::chart {
namespace {

class TrendStyle : public ChartStyle {
 public:
  explicit TrendStyle(const ChartSpec& spec) : spec_(spec), rows_(spec), canvas_(spec.width, spec.height) {}

  void draw(const ChartWindow& window, rle::Image& out) override {
    compute_moving_average(spec_, window, averages_);
    lowest_ = std::numeric_limits<double>::infinity();
    highest_ = -lowest_;
    for (const PriceColumn role : {kOpen, kHigh, kLow, kClose}) {
      for (const double v : window.rows[role]) reach(v);
    }
    for (const double v : averages_) reach(v);
    draw_averages();
    const std::size_t n = window.rows[kClose].size();
    for (std::size_t i = 0; i < n; ++i) {
      const double open = window.rows[kOpen][i], high = window.rows[kHigh][i], low = window.rows[kLow][i],
                   close = window.rows[kClose][i];
      if (std::isnan(open) || std::isnan(high) || std::isnan(low) || std::isnan(close)) continue;
      const int x = static_cast<int>(3 * i);
      canvas_.dot(x, row(open), rle::kFull);
      canvas_.block(x + 1, x + 1, row(high), row(low), rle::kFull);
      canvas_.dot(x + 2, row(close), rle::kFull);
    }
    const auto middle = [](std::size_t day) {
      const int x = static_cast<int>(3 * day) + 1;
      return BarColumns{x, x};
    };
    if (rows_.volume > 0) draw_volume(window, rows_, spec_.height, rle::kFull, middle, canvas_);
    canvas_.finish(out);
  }

 private:
  void reach(double v) {
    if (std::isnan(v)) return;
    lowest_ = std::min(lowest_, v);
    highest_ = std::max(highest_, v);
  }

  int row(double v) const {
    const double up =
        highest_ > lowest_ ? (v - lowest_) * (rows_.price - 1) / (highest_ - lowest_) : 0.5 * (rows_.price - 1);
    return rows_.price - 1 - static_cast<int>(round_even(up));
  }

  void draw_averages() {
    for (std::size_t day = 0; day < averages_.size(); ++day) {
      const double now = averages_[day];
      if (std::isnan(now)) continue;
      const int x = static_cast<int>(3 * day) + 1;
      canvas_.dot(x, row(now), rle::kFull);
      if (day + 1 == averages_.size() || std::isnan(averages_[day + 1])) continue;
      const double slope = (averages_[day + 1] - now) / 3;
      for (int k = 1; k < 3; ++k) canvas_.dot(x + k, row(slope * k + now), rle::kFull);
    }
  }

  const ChartSpec spec_;
  const PixelRows rows_;
  rle::Canvas canvas_;
  double lowest_ = 0, highest_ = 0;
  std::vector<double> averages_;
};

}  // namespace

std::unique_ptr<ChartStyle> make_trend_style(const ChartSpec& spec) { return std::make_unique<TrendStyle>(spec); }

}  // namespace millrace::chart
