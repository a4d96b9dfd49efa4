// The device code repeats this operation by operation: body/values.inc and paint.inc.
#include <algorithm>
#include <cmath>
#include <optional>

#include "src/kernels/chart/chart_indicators.h"
#include "src/kernels/rle/layers.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::chart {
namespace {

class LineStyle : public ChartStyle {
 public:
  explicit LineStyle(const ChartSpec& spec)
      : spec_(spec), rows_(spec), rasterizer_(spec.width, rows_.price, spec.line_pixels) {
    if (spec.average > 0) thin_.emplace(spec.width, rows_.price, std::min(1.0, spec.line_pixels));
    if (rows_.volume > 0) canvas_.emplace(spec.width, rows_.volume + 1);
  }

  void draw(const ChartWindow& window, rle::Image& out) override {
    compute_moving_average(spec_, window, averages_);
    PriceScale scale(spec_, window, {kClose});
    for (const double v : averages_) scale.include(v);
    draw_line(window.rows[kClose], scale, rasterizer_);
    if (!thin_ && !canvas_) return rasterizer_.finish(out);
    rasterizer_.finish(prices_);
    out.begin(spec_.width, spec_.height);
    if (thin_) {
      draw_line(averages_, scale, *thin_);
      thin_->finish(average_);
      overlay_.append(prices_, average_, out);
    } else {
      rle::append_rows(prices_, out);
    }
    if (canvas_) {
      const std::size_t n = window.rows[kClose].size();
      // docs/design/strokes.md gives the reasons for the constants of this file.
      const auto columns = [&](std::size_t i) {
        const double x = x_of(i, n),
                     half = 0.4 * (spec_.width - 1) / static_cast<double>(std::max<std::size_t>(1, n - 1));
        const int first = static_cast<int>(std::max(0.0, x - half + 0.5));
        return BarColumns{first, std::max(first, static_cast<int>(x + half + 0.5) - 1)};
      };
      draw_volume(window, rows_, rows_.volume + 1, kVolumeLevel, columns, *canvas_);
      canvas_->finish(volume_);
      rle::append_rows(volume_, out);
    }
    out.finish();
  }

 private:
  double x_of(std::size_t i, std::size_t n) const {
    const double right = spec_.width - 1, step = n > 1 ? right / static_cast<double>(n - 1) : 0;
    return n == 1 ? 0.5 * right : (i + 1 == n ? right : static_cast<double>(i) * step);
  }

  void draw_line(const std::vector<double>& values, const PriceScale& scale, stroke::Rasterizer& rasterizer) {
    const double bottom = rows_.price - 1, range = scale.highest() - scale.lowest();
    points_.clear();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double v = scale.value(values[i]);
      if (std::isnan(v)) {
        rasterizer.line(points_);
        points_.clear();
        continue;
      }
      const double norm = range > 0 ? (v - scale.lowest()) / range : 0.5;
      points_.push_back({x_of(i, values.size()), (1 - norm) * bottom});
    }
    rasterizer.line(points_);
  }

  const ChartSpec spec_;
  const PixelRows rows_;
  stroke::Rasterizer rasterizer_;
  std::optional<stroke::Rasterizer> thin_;  // for the moving average
  std::optional<rle::Canvas> canvas_;       // for the volume, with the free row above
  rle::Image prices_, average_, volume_;
  rle::Overlay overlay_;
  std::vector<stroke::StrokePoint> points_;
  std::vector<double> averages_;
};

}  // namespace

std::unique_ptr<ChartStyle> make_line_style(const ChartSpec& spec) { return std::make_unique<LineStyle>(spec); }

}  // namespace millrace::chart
