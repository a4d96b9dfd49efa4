#include "src/report/plot/scatter_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/kernels/elementary.h"
#include "src/report/number_format.h"
#include "src/report/plot/axis.h"
#include "src/report/plot/legend.h"
#include "src/report/plot/svg.h"

namespace millrace::report {
namespace {

constexpr double kLeft = 62, kRight = 16;

std::vector<PlotPoint> points_of(const ScatterPlot& scatter, std::size_t group) {
  std::vector<PlotPoint> points;
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (scatter.group[i] == group && is_finite(scatter.points[i])) points.push_back(scatter.points[i]);
  }
  return points;
}

PlotPoint mean_of(const std::vector<PlotPoint>& points) {
  PlotPoint sum{0, 0};
  const auto n = static_cast<double>(points.size());
  for (const PlotPoint& point : points) sum = {sum[0] + point[0] / n, sum[1] + point[1] / n};
  return sum;
}

// Returns points with (x - mean)' S^-1 (x - mean) = 1, where S is the sample covariance: its Cholesky factor times the
// unit circle.
std::vector<PlotPoint> ellipse_of(const std::vector<PlotPoint>& points) {
  if (points.size() < 3) return {};
  const PlotPoint mean = mean_of(points);
  double xx = 0, xy = 0, yy = 0;
  for (const PlotPoint& point : points) {
    const double x = point[0] - mean[0], y = point[1] - mean[1];
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  const auto n = static_cast<double>(points.size() - 1);
  const double l11 = std::sqrt(xx / n);
  const double l21 = l11 > 0 ? xy / n / l11 : 0;
  const double l22 = std::sqrt(std::max(yy / n - l21 * l21, 0.0));
  constexpr long kCorners = 48;
  std::vector<PlotPoint> around;
  for (long k = 0; k < kCorners; ++k) {
    const double c = cosine_of_turn(k, kCorners), s = sine_of_turn(k, kCorners);
    around.push_back({mean[0] + l11 * c, mean[1] + l21 * c + l22 * s});
  }
  if (!std::all_of(around.begin(), around.end(), is_finite)) return {};
  return around;
}

// Makes units of equal length: the axis that has more pixels than it needs reaches further.
void equalize(double& low, double& high, double pixels_a_unit, double pixels) {
  const double wants = pixels / pixels_a_unit, middle = low / 2 + high / 2;
  low = middle - wants / 2;
  high = middle + wants / 2;
}

Table numbers_of(const ScatterPlot& scatter) {
  Table table;
  const bool named = !scatter.point_names.empty();
  table.columns.push_back({"group"});
  if (named) table.columns.push_back({"point"});
  table.columns.push_back({scatter.x_title.empty() ? "x" : scatter.x_title, true});
  table.columns.push_back({scatter.y_title.empty() ? "y" : scatter.y_title, true});
  for (std::size_t i = 0; i < std::min(scatter.points.size(), kMaxNumberRows); ++i) {
    std::vector<std::string> row = {scatter.names[scatter.group[i]]};
    if (named) row.push_back(scatter.point_names[i]);
    row.push_back(format_number(scatter.points[i][0], 4));
    row.push_back(format_number(scatter.points[i][1], 4));
    table.rows.push_back(std::move(row));
  }
  if (table.rows.size() < scatter.points.size()) {
    table.note = fmt::format("Only the first {} of {} points are listed. ", group_digits(table.rows.size()),
                             group_digits(scatter.points.size()));
  }
  const auto absent = std::count_if(scatter.points.begin(), scatter.points.end(), [](auto p) { return !is_finite(p); });
  if (absent > 0) {
    table.note +=
        fmt::format("Points that lack a number are not drawn: {}.", group_digits(static_cast<std::uint64_t>(absent)));
  }
  return table;
}

void check(const ScatterPlot& scatter) {
  const bool lengths = scatter.group.size() == scatter.points.size() &&
                       (scatter.point_names.empty() || scatter.point_names.size() == scatter.points.size());
  const auto known = [&](std::size_t group) { return group < scatter.names.size(); };
  if (!lengths || !std::all_of(scatter.group.begin(), scatter.group.end(), known)) {
    throw Failure(ErrorCode::internal, "a scatter plot has points without a group", scatter.title);
  }
}

}  // namespace

Figure draw(const ScatterPlot& scatter) {
  check(scatter);
  std::vector<std::vector<PlotPoint>> members, ellipses;
  ValueRange x_range, y_range;
  for (std::size_t g = 0; g < scatter.names.size(); ++g) {
    members.push_back(points_of(scatter, g));
    ellipses.push_back(scatter.ellipses ? ellipse_of(members[g]) : std::vector<PlotPoint>());
    for (const auto* points : {&members[g], &ellipses[g]}) {
      for (const PlotPoint& point : *points) {
        x_range.add(point[0]);
        y_range.add(point[1]);
      }
    }
  }
  const double plot_width = scatter.width - kLeft - kRight, plot_height = plot_width * 0.74;
  double x_low = x_range.low(), x_high = x_range.high(), y_low = y_range.low(), y_high = y_range.high();
  if (scatter.equal_units && x_high - x_low < 1e150 && y_high - y_low < 1e150 && (x_high > x_low || y_high > y_low)) {
    const double margin = 1.08;
    const double unit = std::min(plot_width / ((x_high - x_low) * margin), plot_height / ((y_high - y_low) * margin));
    equalize(x_low, x_high, unit, plot_width);
    equalize(y_low, y_high, unit, plot_height);
  }
  const bool at_ticks = !scatter.equal_units;
  const Axis x(x_low, x_high, {.ticks = 6, .ends_at_ticks = at_ticks}), y(y_low, y_high, {.ends_at_ticks = at_ticks});

  const Legend legend(scatter.names, scatter.width - 16, Legend::Sample::mark);
  const double legend_height = scatter.names.size() < 2 ? 0 : legend.height() + 6;
  const double top = legend_height + 28, bottom = top + plot_height;
  const auto at = [&](const PlotPoint& p) {
    return PlotPoint{kLeft + x.place(p[0]) * plot_width, bottom - y.place(p[1]) * plot_height};
  };

  Svg svg(scatter.width, scatter.title, scatter.description.empty() ? scatter.caption : scatter.description);
  if (legend_height > 0) legend.draw(svg, {8, 2});
  svg.text({kLeft, top - 10}, scatter.y_title + y.factor(), {.foreground = Foreground::dim});
  for (const AxisTick& tick : y.ticks()) {
    const double place = bottom - y.place(tick.at) * plot_height;
    svg.line({kLeft, place}, {kLeft + plot_width, place}, Foreground::grid);
    svg.text({kLeft - 6, place + 4}, tick.label, {.foreground = Foreground::dim, .anchor = Anchor::end});
  }
  for (const AxisTick& tick : x.ticks()) {
    const double place = kLeft + x.place(tick.at) * plot_width;
    svg.line({place, top}, {place, bottom}, Foreground::grid);
    svg.text({place, bottom + 16}, tick.label, {.foreground = Foreground::dim, .anchor = Anchor::middle});
  }
  svg.line({kLeft, bottom}, {kLeft + plot_width, bottom}, Foreground::axis);
  svg.text({kLeft + plot_width / 2, bottom + 33}, scatter.x_title + x.factor(),
           {.foreground = Foreground::dim, .anchor = Anchor::middle});

  for (std::size_t g = 0; g < scatter.names.size(); ++g) {
    svg.open_series(g, {});
    std::vector<PlotPoint> around;
    for (const PlotPoint& point : ellipses[g]) around.push_back(at(point));
    svg.closed(around, 0.08);
    svg.close();
  }
  for (std::size_t i = 0; i < scatter.points.size(); ++i) {
    if (!is_finite(scatter.points[i])) continue;
    const std::size_t g = scatter.group[i];
    svg.open_series(g, {});
    svg.mark(at(scatter.points[i]), mark_of(g), 3.4, true,
             scatter.point_names.empty() ? scatter.names[g] : scatter.point_names[i]);
    svg.close();
  }
  for (std::size_t g = 0; scatter.means && g < scatter.names.size(); ++g) {
    if (members[g].size() < 2) continue;
    svg.open_series(g, {});
    svg.mark(at(mean_of(members[g])), mark_of(g), 6.5, false,
             fmt::format("{}: mean of {}", scatter.names[g], group_digits(members[g].size())));
    svg.close();
  }
  return {scatter.title, scatter.caption, svg.finish(bottom + 40), scatter.width, numbers_of(scatter)};
}

}  // namespace millrace::report
