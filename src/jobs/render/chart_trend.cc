#include <algorithm>
#include <cmath>
#include <limits>

#include "src/jobs/render/chart.h"
#include "src/kernels/ink/canvas.h"

namespace millrace::render {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Half to even, whatever the processor's rounding mode is.
double round_even(double v) {
  const double down = std::floor(v), part = v - down;
  if (part != 0.5) return part < 0.5 ? down : down + 1;
  return std::floor(down / 2) * 2 == down ? down : down + 1;
}

class TrendPen : public ChartPen {
 public:
  explicit TrendPen(const Options& options)
      : options_(options),
        volume_rows_(options.volume ? options.height / 5 : 0),
        price_rows_(options.volume ? options.height - volume_rows_ - 1 : options.height),
        canvas_(options.width, options.height) {}

  void draw(const Window& window, ink::Picture& out) override {
    take_averages(window);
    lowest_ = std::numeric_limits<double>::infinity();
    highest_ = -lowest_;
    for (const Role role : {kOpen, kHigh, kLow, kClose}) {
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
      canvas_.dot(x, row(open), ink::kFull);
      canvas_.block(x + 1, x + 1, row(high), row(low), ink::kFull);
      canvas_.dot(x + 2, row(close), ink::kFull);
    }
    if (options_.volume) draw_volume(window.rows[kVolume]);
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
        highest_ > lowest_ ? (v - lowest_) * (price_rows_ - 1) / (highest_ - lowest_) : 0.5 * (price_rows_ - 1);
    return price_rows_ - 1 - static_cast<int>(round_even(up));
  }

  // The mean of the last closes, each day; none where one of them is missing.
  void take_averages(const Window& window) {
    averages_.clear();
    if (options_.average == 0) return;
    closes_ = window.before;
    const std::vector<double>& close = window.rows[kClose];
    closes_.insert(closes_.end(), close.begin(), close.end());
    const auto length = static_cast<std::size_t>(options_.average);
    for (std::size_t day = 0; day < close.size(); ++day) {
      const std::size_t end = window.before.size() + day + 1;
      double sum = end < length ? kNone : 0;
      for (std::size_t i = end < length ? end : end - length; i < end; ++i) sum += closes_[i];
      averages_.push_back(sum / static_cast<double>(length));
    }
  }

  void draw_averages() {
    for (std::size_t day = 0; day < averages_.size(); ++day) {
      const double now = averages_[day];
      if (std::isnan(now)) continue;
      const int x = static_cast<int>(3 * day) + 1;
      canvas_.dot(x, row(now), ink::kFull);
      if (day + 1 == averages_.size() || std::isnan(averages_[day + 1])) continue;
      const double slope = (averages_[day + 1] - now) / 3;
      for (int k = 1; k < 3; ++k) canvas_.dot(x + k, row(slope * k + now), ink::kFull);
    }
  }

  void draw_volume(const std::vector<double>& volume) {
    double most = 0;
    for (const double v : volume) most = std::isnan(v) ? most : std::max(most, v);
    for (std::size_t day = 0; day < volume.size(); ++day) {
      if (std::isnan(volume[day]) || !(most > 0)) continue;
      const int high = static_cast<int>(round_even(volume[day] * volume_rows_ / most));
      const int x = static_cast<int>(3 * day) + 1;
      if (high > 0) canvas_.block(x, x, options_.height - high, options_.height - 1, ink::kFull);
    }
  }

  const Options& options_;
  const int volume_rows_, price_rows_;
  ink::Canvas canvas_;
  double lowest_ = 0, highest_ = 0;
  std::vector<double> averages_, closes_;
};

}  // namespace

std::unique_ptr<ChartPen> make_trend_pen(const Options& options) { return std::make_unique<TrendPen>(options); }

}  // namespace millrace::render
