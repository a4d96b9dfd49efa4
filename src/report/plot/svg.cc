#include "src/report/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/report/html.h"

namespace millrace::report {

bool is_finite(PlotPoint point) { return std::isfinite(point[0]) && std::isfinite(point[1]); }

namespace {

std::string_view colour_of(Foreground foreground) {
  switch (foreground) {
    case Foreground::foreground:
      return kForeground;
    case Foreground::dim:
      return kDimForeground;
    case Foreground::grid:
      return kGridColor;
    case Foreground::axis:
      break;
  }
  return kAxisColor;
}

std::string_view class_of(Foreground foreground) {
  switch (foreground) {
    case Foreground::foreground:
      return "ink";
    case Foreground::dim:
      return "dim";
    case Foreground::grid:
      return "grid";
    case Foreground::axis:
      break;
  }
  return "axis";
}

// Returns the path commands (M and L) of the runs of finite points; a run of one point has no line.
std::string runs_of(const std::vector<PlotPoint>& points) {
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points[i])) continue;
    const bool begins = i == 0 || !is_finite(points[i - 1]);
    const bool alone = begins && (i + 1 == points.size() || !is_finite(points[i + 1]));
    if (alone) continue;
    text +=
        fmt::format("{}{},{}", begins ? 'M' : 'L', format_coordinate(points[i][0]), format_coordinate(points[i][1]));
  }
  return text;
}

std::string polygon_of(const std::vector<PlotPoint>& points) {
  std::string text;
  for (const PlotPoint& point : points) {
    text += fmt::format("{}{},{}", text.empty() ? 'M' : 'L', format_coordinate(point[0]), format_coordinate(point[1]));
  }
  return text + "Z";
}

// Returns a mark as a path about its middle; all marks have about the same area.
std::string path_of(MarkerShape mark, PlotPoint at, double r) {
  const auto around = [&](std::initializer_list<PlotPoint> corners) {
    std::vector<PlotPoint> points;
    for (const PlotPoint& corner : corners) points.push_back({at[0] + r * corner[0], at[1] + r * corner[1]});
    return polygon_of(points);
  };
  switch (mark) {
    case MarkerShape::square:
      return around({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case MarkerShape::triangle:
      return around({{0, -1.25}, {1.15, 0.85}, {-1.15, 0.85}});
    case MarkerShape::triangle_down:
      return around({{0, 1.25}, {1.15, -0.85}, {-1.15, -0.85}});
    case MarkerShape::diamond:
      return around({{0, -1.35}, {1.2, 0}, {0, 1.35}, {-1.2, 0}});
    case MarkerShape::cross:
      return around({{-0.4, -1.2},
                     {0.4, -1.2},
                     {0.4, -0.4},
                     {1.2, -0.4},
                     {1.2, 0.4},
                     {0.4, 0.4},
                     {0.4, 1.2},
                     {-0.4, 1.2},
                     {-0.4, 0.4},
                     {-1.2, 0.4},
                     {-1.2, -0.4},
                     {-0.4, -0.4}});
    case MarkerShape::circle:
      break;
  }
  return {};
}

}  // namespace

std::string format_coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  const double tenths = std::floor(std::clamp(value, -1e6, 1e6) * 10 + 0.5);
  const auto whole = static_cast<long>(tenths);
  if (whole % 10 == 0) return std::to_string(whole / 10);
  return fmt::format("{}{}.{}", whole < 0 ? "-" : "", std::labs(whole) / 10, std::labs(whole) % 10);
}

double text_width(std::string_view text, double size) {
  double ems = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) == 0x80) continue;
    if (byte >= 0xE3) {
      ems += 1;  // mostly East Asian characters, and code points beyond them
    } else if (std::string_view("iljtf.,:;|!'()[] ").find(text[i]) != std::string_view::npos) {
      ems += 0.34;
    } else if (std::string_view("mwMW@%").find(text[i]) != std::string_view::npos) {
      ems += 0.86;
    } else {
      ems += byte >= 'A' && byte <= 'Z' ? 0.68 : 0.58;
    }
  }
  return ems * size;
}

Svg::Svg(double width, std::string_view title, std::string_view description) : width_(width) {
  words_ = "<title>" + escape_html_name(title) + "</title>\n";
  if (!description.empty()) words_ += "<desc>" + escape_html_name(description) + "</desc>\n";
}

void Svg::append(std::string_view shape, std::string_view hover) {
  // `shape` is an element without its end.
  body_ += shape;
  if (hover.empty()) {
    body_ += "/>\n";
    return;
  }
  const std::string_view name = shape.substr(1, shape.find(' ') - 1);
  body_ += fmt::format("><title>{}</title></{}>\n", escape_html_name(hover), name);
}

void Svg::line(PlotPoint from, PlotPoint to, Foreground foreground, double width) {
  if (!is_finite(from) || !is_finite(to)) return;
  append(fmt::format("<path class=\"{}\" color=\"{}\" stroke=\"currentColor\" stroke-width=\"{}\" d=\"M{},{}L{},{}\"",
                     class_of(foreground), colour_of(foreground), format_coordinate(width), format_coordinate(from[0]),
                     format_coordinate(from[1]), format_coordinate(to[0]), format_coordinate(to[1])),
         {});
}

void Svg::text(PlotPoint at, std::string_view text, const TextStyle& style, std::string_view hover) {
  if (!is_finite(at)) return;
  body_ +=
      fmt::format("<text class=\"{}\" color=\"{}\" fill=\"currentColor\" x=\"{}\" y=\"{}\"", class_of(style.foreground),
                  colour_of(style.foreground), format_coordinate(at[0]), format_coordinate(at[1]));
  if (style.anchor != Anchor::start) {
    body_ += fmt::format(" text-anchor=\"{}\"", style.anchor == Anchor::end ? "end" : "middle");
  }
  if (style.size != 11) body_ += fmt::format(" font-size=\"{}\"", format_coordinate(style.size));
  if (style.bold) body_ += " font-weight=\"600\"";
  if (style.upright)
    body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", format_coordinate(at[0]), format_coordinate(at[1]));
  body_ += ">" + escape_html_name(text);
  if (!hover.empty()) body_ += "<title>" + escape_html_name(hover) + "</title>";
  body_ += "</text>\n";
}

void Svg::heading(PlotPoint at, std::string_view title, std::string_view unit, std::string_view hover) {
  body_ += fmt::format("<text class=\"ink\" color=\"{}\" fill=\"currentColor\" x=\"{}\" y=\"{}\">", kForeground,
                       format_coordinate(at[0]), format_coordinate(at[1]));
  if (!hover.empty()) body_ += "<title>" + escape_html_name(hover) + "</title>";
  if (!title.empty()) {
    body_ += "<tspan font-size=\"12\" font-weight=\"600\">" + escape_html_name(title) + "</tspan>";
  }
  if (!unit.empty()) {
    body_ += fmt::format("<tspan class=\"dim\" color=\"{}\" fill=\"currentColor\"{}>{}</tspan>", kDimForeground,
                         title.empty() ? "" : " dx=\"7\"", escape_html_name(unit));
  }
  body_ += "</text>\n";
}

void Svg::open_series(std::size_t n, std::string_view name) {
  const std::size_t colour = report::colour_of(n);
  body_ += fmt::format("<g class=\"s{}\" color=\"{}\">\n", colour, kSeriesColours[colour]);
  if (!name.empty()) body_ += "<title>" + escape_html_name(name) + "</title>\n";
}

void Svg::open_foreground(Foreground foreground) {
  body_ += fmt::format("<g class=\"{}\" color=\"{}\">\n", class_of(foreground), colour_of(foreground));
}

void Svg::path(const std::vector<PlotPoint>& points, std::string_view dash, double width) {
  const std::string runs = runs_of(points);
  if (runs.empty()) return;
  append(
      fmt::format(
          "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"{}\" stroke-linejoin=\"round\"{} d=\"{}\"",
          format_coordinate(width), dash.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash), runs),
      {});
}

void Svg::band(const std::vector<PlotPoint>& upper, const std::vector<PlotPoint>& lower, double opacity) {
  const std::size_t count = std::min(upper.size(), lower.size());
  std::string shapes;
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin;
    while (end < count && is_finite(upper[end]) && is_finite(lower[end])) ++end;
    if (end - begin >= 2) {
      const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
      std::vector<PlotPoint> around(upper.begin() + from, upper.begin() + to);
      around.insert(around.end(), std::make_reverse_iterator(lower.begin() + to),
                    std::make_reverse_iterator(lower.begin() + from));
      shapes += polygon_of(around);
    }
    begin = end + 1;
  }
  if (shapes.empty()) return;
  append(fmt::format("<path fill=\"currentColor\" fill-opacity=\"{:.2f}\" d=\"{}\"", opacity, shapes), {});
}

void Svg::closed(const std::vector<PlotPoint>& points, double fill_opacity) {
  if (points.empty() || !std::all_of(points.begin(), points.end(), is_finite)) return;
  append(fmt::format(
             "<path fill=\"currentColor\" fill-opacity=\"{:.2f}\" stroke=\"currentColor\" stroke-width=\"1\" d=\"{}\"",
             fill_opacity, polygon_of(points)),
         {});
}

void Svg::mark(PlotPoint at, MarkerShape mark, double radius, bool filled, std::string_view hover) {
  if (!is_finite(at)) return;
  std::string shape = mark == MarkerShape::circle
                          ? fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", format_coordinate(at[0]),
                                        format_coordinate(at[1]), format_coordinate(radius))
                          : fmt::format("<path d=\"{}\"", path_of(mark, at, radius));
  shape += filled
               ? " fill=\"currentColor\""
               : fmt::format(" class=\"hollow\" fill=\"{}\" stroke=\"currentColor\" stroke-width=\"1.4\"", kBackground);
  append(shape, hover);
}

void Svg::box(PlotPoint corner, double width, double height, std::string_view colour, std::string_view hover) {
  append(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", format_coordinate(corner[0]),
                     format_coordinate(corner[1]), format_coordinate(width), format_coordinate(height), colour),
         hover);
}

void Svg::boxes(const std::vector<PlotPoint>& corners, double width, double height, std::string_view colour) {
  if (corners.empty()) return;
  std::string shapes;
  for (const PlotPoint& corner : corners) {
    // Each corner is rounded by itself, so that neighbours meet.
    shapes += fmt::format("M{0},{1}H{2}V{3}H{0}Z", format_coordinate(corner[0]), format_coordinate(corner[1]),
                          format_coordinate(corner[0] + width), format_coordinate(corner[1] + height));
  }
  append(fmt::format("<path fill=\"{}\" shape-rendering=\"crispEdges\" d=\"{}\"", colour, shapes), {});
}

void Svg::text_on(PlotPoint middle, std::string_view text, std::string_view shade, double size) {
  body_ += fmt::format(
      "<text pointer-events=\"none\" text-anchor=\"middle\" x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n",
      format_coordinate(middle[0]), format_coordinate(middle[1] + size * 0.36), format_coordinate(size),
      is_dark(shade) ? std::string_view("#ffffff") : kForeground, escape_html_name(text));
}

void Svg::dot_on(PlotPoint middle, std::string_view shade, double radius) {
  body_ += fmt::format("<circle pointer-events=\"none\" cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n",
                       format_coordinate(middle[0]), format_coordinate(middle[1]), format_coordinate(radius),
                       is_dark(shade) ? std::string_view("#ffffff") : kForeground);
}

std::string Svg::finish(double height) {
  const std::string size =
      fmt::format("width=\"{}\" height=\"{}\"", format_coordinate(width_), format_coordinate(height));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" {} role=\"img\" font-family=\"system-ui, "
      "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif\" font-size=\"11\">\n{}"
      "<rect class=\"ground\" {} fill=\"{}\"/>\n{}</svg>\n",
      format_coordinate(width_), format_coordinate(height), size, std::exchange(words_, {}), size, kBackground,
      std::exchange(body_, {}));
}

}  // namespace millrace::report
