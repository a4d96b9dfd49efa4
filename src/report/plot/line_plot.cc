#include "src/report/plot/line_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/report/number_format.h"
#include "src/report/plot/legend.h"
#include "src/report/plot/svg.h"

namespace millrace::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kWidth = 960;
// Largest shift of names at the ends of lines, and the distance between them.
constexpr double kMaxLabelShift = 10, kLabelPitch = 13;
constexpr std::size_t kMaxLabels = 8;

struct Rect {
  double left, top, width, height;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

// Axes of a panel, and the places of numbers in it.
struct Frame {
  Rect rect;
  const Axis& x;
  const Axis& y;

  double x_at(double value) const { return rect.left + x.place(value) * rect.width; }
  double y_at(double value) const { return rect.bottom() - y.place(value) * rect.height; }
  PlotPoint at(double px, double py) const {
    if (!x.can_show(px) || !y.can_show(py)) return {kNone, kNone};
    return {x_at(px), y_at(py)};
  }
};

double at_or_none(const std::vector<double>& values, std::size_t i) { return i < values.size() ? values[i] : kNone; }

void draw_axes(Svg& svg, const Frame& frame, bool x_labels) {
  const Rect& rect = frame.rect;
  for (const AxisTick& tick : frame.y.ticks()) {
    const double y = frame.y_at(tick.at);
    svg.line({rect.left, y}, {rect.right(), y}, Foreground::grid);
    svg.text({rect.left - 6, y + 4}, tick.label, {.foreground = Foreground::dim, .anchor = Anchor::end});
  }
  svg.line({rect.left, rect.bottom()}, {rect.right(), rect.bottom()}, Foreground::axis);
  for (const AxisTick& tick : frame.x.ticks()) {
    const double x = frame.x_at(tick.at);
    svg.line({x, rect.bottom()}, {x, rect.bottom() + 4}, Foreground::axis);
    if (x_labels)
      svg.text({x, rect.bottom() + 16}, tick.label, {.foreground = Foreground::dim, .anchor = Anchor::middle});
  }
}

void draw_line(Svg& svg, const Frame& frame, const LinePlot& plot, const LineSeries& line, std::size_t n, bool wide) {
  const std::size_t count = plot.x.size();
  std::vector<PlotPoint> points, upper, lower;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(frame.at(plot.x[i], at_or_none(line.y, i)));
    upper.push_back(frame.at(plot.x[i], at_or_none(line.high, i)));
    lower.push_back(frame.at(plot.x[i], at_or_none(line.low, i)));
  }
  const auto has = [&points](std::size_t i) { return i < points.size() && !std::isnan(points[i][0]); };
  svg.open_series(n, plot.names[n]);
  svg.band(upper, lower, plot.names.size() > 6 ? 0.07 : 0.14);
  svg.path(points, dash_of(n), wide ? 1.8 : 1.5);
  // Each line has about five marks, in different columns than other lines. Points that no line goes through have marks
  // too.
  const std::size_t every = std::max<std::size_t>(1, count / 5);
  for (std::size_t i = 0; i < count; ++i) {
    if (!has(i)) continue;
    const bool alone = (i == 0 || !has(i - 1)) && !has(i + 1);
    if (!alone && (i + n) % every != 0) continue;
    if (alone && !std::isnan(upper[i][1]) && !std::isnan(lower[i][1])) svg.path({lower[i], upper[i]}, {}, 1.5);
    svg.mark(points[i], mark_of(n), wide ? 3.2 : 2.4);
  }
  svg.close();
}

struct EndLabel {
  std::size_t series;
  double wanted, y;
};

// Returns names behind the last points, shifted a little where they would touch; nothing if that is not enough.
std::optional<std::vector<EndLabel>> end_labels(const Frame& frame, const LinePlot& plot, const LinePanel& panel) {
  if (panel.lines.size() > kMaxLabels) return std::nullopt;
  std::vector<EndLabel> labels;
  for (std::size_t n = 0; n < panel.lines.size(); ++n) {
    const std::size_t last = plot.x.size() - 1;
    const double y = at_or_none(panel.lines[n].y, last);
    if (!frame.y.can_show(y)) return std::nullopt;  // a line that ends earlier
    labels.push_back({n, frame.y_at(y), frame.y_at(y)});
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const EndLabel& a, const EndLabel& b) { return a.wanted < b.wanted; });
  // Names that touch are spread about their middle, a few times over.
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 1; i < labels.size(); ++i) {
      const double missing = kLabelPitch - (labels[i].y - labels[i - 1].y);
      if (missing <= 0) continue;
      labels[i - 1].y -= missing / 2;
      labels[i].y += missing / 2;
    }
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::fabs(labels[i].y - labels[i].wanted) > kMaxLabelShift) return std::nullopt;
    if (i > 0 && labels[i].y - labels[i - 1].y < kLabelPitch - 1) return std::nullopt;
  }
  return labels;
}

void draw_end_labels(Svg& svg, const Frame& frame, const LinePlot& plot, const std::vector<EndLabel>& labels) {
  for (const EndLabel& label : labels) {
    const std::string shown = shorten_middle(escape_unprintable(plot.names[label.series]), 24);
    const double x = frame.rect.right() + 8;
    svg.open_series(label.series, {});
    svg.mark({x + 4, label.y}, mark_of(label.series), 3);
    svg.close();
    svg.text({x + 12, label.y + 4}, shown, {},
             shown == plot.names[label.series] ? std::string() : plot.names[label.series]);
  }
}

Axis y_axis(const LinePlot& plot, const LinePanel& panel) {
  ValueRange range(plot.y_scale);
  for (const LineSeries& line : panel.lines) {
    range.add(line.y);
    range.add(line.low);
    range.add(line.high);
  }
  // Some space is added above and below; the axis does not end at ticks.
  const double air = plot.y_scale == AxisScale::linear ? (range.high() / 2 - range.low() / 2) * 0.08 : 0;
  return {range.low() - air,
          range.high() + air,
          {.scale = plot.y_scale, .ticks = 5, .ends_at_ticks = plot.y_scale == AxisScale::log10}};
}

bool shows_anything(const Frame& frame, const LinePlot& plot, const LinePanel& panel) {
  for (const LineSeries& line : panel.lines) {
    for (std::size_t i = 0; i < plot.x.size(); ++i) {
      if (frame.x.can_show(plot.x[i]) && frame.y.can_show(at_or_none(line.y, i))) return true;
    }
  }
  return false;
}

Table numbers_of(const LinePlot& plot) {
  Table table;
  if (plot.panels.size() > 1) table.columns.push_back({"panel"});
  table.columns.push_back({plot.x_title, true});
  bool intervals = false;
  for (const LinePanel& panel : plot.panels) {
    for (const LineSeries& line : panel.lines) intervals |= !line.low.empty();
  }
  for (const std::string& name : plot.names) {
    table.columns.push_back({name, true});
    if (intervals) table.columns.push_back({plot.interval.empty() ? "interval" : plot.interval, true});
  }
  const std::size_t all = plot.panels.size() * plot.x.size();
  for (const LinePanel& panel : plot.panels) {
    for (std::size_t i = 0; i < plot.x.size() && table.rows.size() < kMaxNumberRows; ++i) {
      std::vector<std::string> row;
      if (plot.panels.size() > 1) row.push_back(panel.title);
      row.push_back(plot.whole_x ? format_fixed(plot.x[i], 0) : format_number(plot.x[i], 4));
      for (std::size_t n = 0; n < plot.names.size(); ++n) {
        const LineSeries none, &line = n < panel.lines.size() ? panel.lines[n] : none;
        row.push_back(format_number(at_or_none(line.y, i), 4));
        if (intervals) row.push_back(format_interval(at_or_none(line.low, i), at_or_none(line.high, i), 4));
      }
      table.rows.push_back(std::move(row));
    }
  }
  if (table.rows.size() < all) {
    table.note =
        fmt::format("Only the first {} of {} rows are shown.", group_digits(table.rows.size()), group_digits(all));
  }
  return table;
}

// Arrangement of panels: their number per row, and the size of each.
struct Grid {
  std::size_t columns;
  double height, gap_x, gap_y, left;

  explicit Grid(std::size_t panels)
      : columns(panels <= 1                  ? 1
                : panels == 2 || panels == 4 ? 2
                                             : 3),
        height(panels <= 1    ? 270
               : columns == 2 ? 170
                              : 132),
        gap_x(62),
        gap_y(48),
        left(58) {}
};

}  // namespace

Figure draw(const LinePlot& plot) {
  const std::size_t panels = plot.panels.size();
  const Grid grid(panels);
  ValueRange x_range(plot.x_scale);
  x_range.add(plot.x);
  const int x_ticks = panels <= 1 ? 9 : 5;
  const Axis x(x_range.low(), x_range.high(),
               {.scale = plot.x_scale, .ticks = x_ticks, .ends_at_ticks = false, .whole = plot.whole_x});
  std::vector<Axis> ys;
  for (const LinePanel& panel : plot.panels) ys.push_back(y_axis(plot, panel));

  // Names are at the ends of lines, or in a legend above.
  const double label_room = 160;
  std::optional<std::vector<EndLabel>> labels;
  if (panels == 1 && plot.names.size() > 1 && plot.x.size() > 1) {
    labels =
        end_labels({{grid.left, 30, kWidth - grid.left - label_room, grid.height}, x, ys[0]}, plot, plot.panels[0]);
  }
  const Legend legend(plot.names, kWidth - 16, Legend::Sample::line);
  const double legend_height = labels || plot.names.size() < 2 ? 0 : legend.height() + 10;
  const double right = labels ? label_room : 16;
  const double width = (kWidth - grid.left - right - static_cast<double>(grid.columns - 1) * grid.gap_x) /
                       static_cast<double>(grid.columns);
  const std::size_t rows = (std::max<std::size_t>(panels, 1) + grid.columns - 1) / grid.columns;
  const double top = legend_height + 30;
  const double pitch = grid.height + grid.gap_y;
  const double height = top + static_cast<double>(rows) * pitch - grid.gap_y + 40;

  Svg svg(kWidth, plot.title, plot.description.empty() ? plot.caption : plot.description);
  if (legend_height > 0) legend.draw(svg, {8, 4});
  for (std::size_t i = 0; i < panels; ++i) {
    const LinePanel& panel = plot.panels[i];
    const std::size_t above = i / grid.columns;  // number of rows above
    const auto column = static_cast<double>(i % grid.columns), row = static_cast<double>(above);
    const Frame frame{{grid.left + column * (width + grid.gap_x), top + row * pitch, width, grid.height}, x, ys[i]};
    const bool lowest = i + grid.columns >= panels;
    // A panel's title and its unit are above it, where both are read horizontally.
    const std::string title = shorten_middle(escape_unprintable(panel.title), panels > 1 ? 38 : 90);
    svg.heading({frame.rect.left, frame.rect.top - 10}, title, panel.y_title + ys[i].factor(),
                title == panel.title ? std::string() : panel.title);
    draw_axes(svg, frame, lowest);
    if (!shows_anything(frame, plot, panel)) {
      svg.text({frame.rect.left + width / 2, frame.rect.top + grid.height / 2}, "no values",
               {.foreground = Foreground::dim, .anchor = Anchor::middle});
    }
    if (lowest) {
      svg.text({frame.rect.left + width / 2, frame.rect.bottom() + 33}, plot.x_title + x.factor(),
               {.foreground = Foreground::dim, .anchor = Anchor::middle});
    }
    const std::size_t lines = std::min(panel.lines.size(), plot.names.size());
    for (std::size_t n = 0; n < lines; ++n) draw_line(svg, frame, plot, panel.lines[n], n, panels == 1);
    if (labels) draw_end_labels(svg, frame, plot, *labels);
  }
  return {plot.title, plot.caption, svg.finish(height), static_cast<int>(kWidth), numbers_of(plot)};
}

}  // namespace millrace::report
