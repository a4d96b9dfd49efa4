#include <cmath>

#include "src/jobs/render/chart.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::render {
namespace {

class LinePen : public ChartPen {
 public:
  explicit LinePen(const Options& options)
      : options_(options), pen_(options.width, options.height, options.line_pixels()) {}

  void draw(const Window& window, ink::Picture& out) override {
    const std::vector<double>& prices = window.rows[kClose];
    const Scale scale(options_, window, {kClose});
    const std::size_t n = prices.size();
    const double right = options_.width - 1, bottom = options_.height - 1;
    const double step = n > 1 ? right / static_cast<double>(n - 1) : 0;
    const double range = scale.highest() - scale.lowest();
    points_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const double v = scale.value(prices[i]);
      if (std::isnan(v)) {
        pen_.line(points_);
        points_.clear();
        continue;
      }
      const double x = n == 1 ? 0.5 * right : (i + 1 == n ? right : static_cast<double>(i) * step);
      const double norm = range > 0 ? (v - scale.lowest()) / range : 0.5;
      points_.push_back({x, (1 - norm) * bottom});
    }
    pen_.line(points_);
    pen_.finish(out);
  }

 private:
  const Options& options_;
  stroke::Pen pen_;
  std::vector<stroke::Point> points_;
};

}  // namespace

std::unique_ptr<ChartPen> make_line_pen(const Options& options) { return std::make_unique<LinePen>(options); }

}  // namespace millrace::render
