#include <algorithm>
#include <cmath>

#include "src/jobs/render/chart.h"
#include "src/jobs/render/format.h"
#include "src/kernels/ink/canvas.h"

namespace millrace::render {
namespace {

// The pixel rows of a bar's four prices.
struct Bar {
  int open, high, low, close;
  bool rises;
};

// What bars and candles share: which pixel row a price lies in.
class BarPen : public ChartPen {
 public:
  explicit BarPen(const Options& options) : options_(options), canvas_(options.width, options.height) {}

  void draw(const Window& window, ink::Picture& out) override {
    const Scale scale(options_, window, {kOpen, kHigh, kLow, kClose});
    const double range = std::max(scale.highest() - scale.lowest(), 1e-8);
    const auto row = [&](double v) { return static_cast<int>((scale.highest() - v) * (options_.height - 1) / range); };
    const std::size_t n = window.rows[kClose].size();
    for (std::size_t i = 0; i < n; ++i) {
      std::array<double, 4> v;
      bool whole = true;
      for (const Role role : {kOpen, kHigh, kLow, kClose}) {
        v[role] = scale.value(window.rows[role][i]);
        whole = whole && !std::isnan(v[role]);
      }
      if (!whole) continue;
      put(i, n, {row(v[kOpen]), row(v[kHigh]), row(v[kLow]), row(v[kClose]), v[kClose] >= v[kOpen]});
    }
    canvas_.finish(out);
  }

 protected:
  virtual void put(std::size_t i, std::size_t n, const Bar& bar) = 0;

  const Options& options_;
  ink::Canvas canvas_;
};

class OhlcPen : public BarPen {
 public:
  using BarPen::BarPen;

 protected:
  void put(std::size_t i, std::size_t, const Bar& bar) override {
    const int x = static_cast<int>(4 * i);
    const std::uint8_t level = bar.rises ? kRising : kFalling;
    canvas_.dot(x, bar.open, level);
    canvas_.block(x + 1, x + 1, bar.high, bar.low, level);
    canvas_.dot(x + 2, bar.close, level);
  }
};

class CandlePen : public BarPen {
 public:
  using BarPen::BarPen;

 protected:
  void put(std::size_t i, std::size_t n, const Bar& bar) override {
    const double slot = options_.width / static_cast<double>(n);
    const double middle = (static_cast<double>(i) + 0.5) * slot;
    const int wick = static_cast<int>(middle);
    const int left = static_cast<int>(middle - 0.4 * slot + 0.5);
    const int right = std::max(left, static_cast<int>(middle + 0.4 * slot + 0.5) - 1);
    canvas_.block(wick, wick, bar.high, bar.low, ink::kFull);
    // Narrower than a pixel: the wick's own column.
    const bool narrow = 0.8 * slot < 1;
    canvas_.block(narrow ? wick : left, narrow ? wick : right, bar.open, bar.close, bar.rises ? kRising : kFalling);
  }
};

}  // namespace

std::unique_ptr<ChartPen> make_bar_pen(const Options& options) { return std::make_unique<OhlcPen>(options); }
std::unique_ptr<ChartPen> make_candle_pen(const Options& options) { return std::make_unique<CandlePen>(options); }

}  // namespace millrace::render
