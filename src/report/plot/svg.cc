#include "src/report/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/report/html.h"

namespace millrace::report {

bool finite(Point point) { return std::isfinite(point[0]) && std::isfinite(point[1]); }

namespace {

std::string_view colour_of(Ink ink) {
  switch (ink) {
    case Ink::ink:
      return kInk;
    case Ink::dim:
      return kDimInk;
    case Ink::grid:
      return kGridInk;
    case Ink::axis:
      break;
  }
  return kAxisInk;
}

std::string_view class_of(Ink ink) {
  switch (ink) {
    case Ink::ink:
      return "ink";
    case Ink::dim:
      return "dim";
    case Ink::grid:
      return "grid";
    case Ink::axis:
      break;
  }
  return "axis";
}

// Returns the path commands (M and L) of the runs of finite points; a run of one point has no line.
std::string runs_of(const std::vector<Point>& points) {
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!finite(points[i])) continue;
    const bool begins = i == 0 || !finite(points[i - 1]);
    const bool alone = begins && (i + 1 == points.size() || !finite(points[i + 1]));
    if (alone) continue;
    text += fmt::format("{}{},{}", begins ? 'M' : 'L', place_text(points[i][0]), place_text(points[i][1]));
  }
  return text;
}

std::string polygon_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    text += fmt::format("{}{},{}", text.empty() ? 'M' : 'L', place_text(point[0]), place_text(point[1]));
  }
  return text + "Z";
}

// Returns a mark as a path about its middle; all marks have about the same area.
std::string path_of(Mark mark, Point at, double r) {
  const auto around = [&](std::initializer_list<Point> corners) {
    std::vector<Point> points;
    for (const Point& corner : corners) points.push_back({at[0] + r * corner[0], at[1] + r * corner[1]});
    return polygon_of(points);
  };
  switch (mark) {
    case Mark::square:
      return around({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
    case Mark::triangle:
      return around({{0, -1.25}, {1.15, 0.85}, {-1.15, 0.85}});
    case Mark::triangle_down:
      return around({{0, 1.25}, {1.15, -0.85}, {-1.15, -0.85}});
    case Mark::diamond:
      return around({{0, -1.35}, {1.2, 0}, {0, 1.35}, {-1.2, 0}});
    case Mark::cross:
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
    case Mark::circle:
      break;
  }
  return {};
}

}  // namespace

std::string place_text(double value) {
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
  words_ = "<title>" + html_name(title) + "</title>\n";
  if (!description.empty()) words_ += "<desc>" + html_name(description) + "</desc>\n";
}

void Svg::append(std::string_view shape, std::string_view hover) {
  // `shape` is an element without its end.
  body_ += shape;
  if (hover.empty()) {
    body_ += "/>\n";
    return;
  }
  const std::string_view name = shape.substr(1, shape.find(' ') - 1);
  body_ += fmt::format("><title>{}</title></{}>\n", html_name(hover), name);
}

void Svg::line(Point from, Point to, Ink ink, double width) {
  if (!finite(from) || !finite(to)) return;
  append(fmt::format("<path class=\"{}\" color=\"{}\" stroke=\"currentColor\" stroke-width=\"{}\" d=\"M{},{}L{},{}\"",
                     class_of(ink), colour_of(ink), place_text(width), place_text(from[0]), place_text(from[1]),
                     place_text(to[0]), place_text(to[1])),
         {});
}

void Svg::text(Point at, std::string_view text, const TextLook& look, std::string_view hover) {
  if (!finite(at)) return;
  body_ += fmt::format("<text class=\"{}\" color=\"{}\" fill=\"currentColor\" x=\"{}\" y=\"{}\"", class_of(look.ink),
                       colour_of(look.ink), place_text(at[0]), place_text(at[1]));
  if (look.anchor != Anchor::start) {
    body_ += fmt::format(" text-anchor=\"{}\"", look.anchor == Anchor::end ? "end" : "middle");
  }
  if (look.size != 11) body_ += fmt::format(" font-size=\"{}\"", place_text(look.size));
  if (look.bold) body_ += " font-weight=\"600\"";
  if (look.upright) body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", place_text(at[0]), place_text(at[1]));
  body_ += ">" + html_name(text);
  if (!hover.empty()) body_ += "<title>" + html_name(hover) + "</title>";
  body_ += "</text>\n";
}

void Svg::heading(Point at, std::string_view title, std::string_view unit, std::string_view hover) {
  body_ += fmt::format("<text class=\"ink\" color=\"{}\" fill=\"currentColor\" x=\"{}\" y=\"{}\">", kInk,
                       place_text(at[0]), place_text(at[1]));
  if (!hover.empty()) body_ += "<title>" + html_name(hover) + "</title>";
  if (!title.empty()) {
    body_ += "<tspan font-size=\"12\" font-weight=\"600\">" + html_name(title) + "</tspan>";
  }
  if (!unit.empty()) {
    body_ += fmt::format("<tspan class=\"dim\" color=\"{}\" fill=\"currentColor\"{}>{}</tspan>", kDimInk,
                         title.empty() ? "" : " dx=\"7\"", html_name(unit));
  }
  body_ += "</text>\n";
}

void Svg::open_series(std::size_t n, std::string_view name) {
  const std::size_t colour = report::colour_of(n);
  body_ += fmt::format("<g class=\"s{}\" color=\"{}\">\n", colour, kSeriesColours[colour]);
  if (!name.empty()) body_ += "<title>" + html_name(name) + "</title>\n";
}

void Svg::open_ink(Ink ink) { body_ += fmt::format("<g class=\"{}\" color=\"{}\">\n", class_of(ink), colour_of(ink)); }

void Svg::path(const std::vector<Point>& points, std::string_view dash, double width) {
  const std::string runs = runs_of(points);
  if (runs.empty()) return;
  append(fmt::format(
             "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"{}\" stroke-linejoin=\"round\"{} d=\"{}\"",
             place_text(width), dash.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash), runs),
         {});
}

void Svg::band(const std::vector<Point>& upper, const std::vector<Point>& lower, double opacity) {
  const std::size_t count = std::min(upper.size(), lower.size());
  std::string shapes;
  for (std::size_t begin = 0; begin < count;) {
    std::size_t end = begin;
    while (end < count && finite(upper[end]) && finite(lower[end])) ++end;
    if (end - begin >= 2) {
      const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
      std::vector<Point> around(upper.begin() + from, upper.begin() + to);
      around.insert(around.end(), std::make_reverse_iterator(lower.begin() + to),
                    std::make_reverse_iterator(lower.begin() + from));
      shapes += polygon_of(around);
    }
    begin = end + 1;
  }
  if (shapes.empty()) return;
  append(fmt::format("<path fill=\"currentColor\" fill-opacity=\"{:.2f}\" d=\"{}\"", opacity, shapes), {});
}

void Svg::closed(const std::vector<Point>& points, double fill_opacity) {
  if (points.empty() || !std::all_of(points.begin(), points.end(), finite)) return;
  append(fmt::format(
             "<path fill=\"currentColor\" fill-opacity=\"{:.2f}\" stroke=\"currentColor\" stroke-width=\"1\" d=\"{}\"",
             fill_opacity, polygon_of(points)),
         {});
}

void Svg::mark(Point at, Mark mark, double radius, bool filled, std::string_view hover) {
  if (!finite(at)) return;
  std::string shape = mark == Mark::circle ? fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", place_text(at[0]),
                                                         place_text(at[1]), place_text(radius))
                                           : fmt::format("<path d=\"{}\"", path_of(mark, at, radius));
  shape += filled ? " fill=\"currentColor\""
                  : fmt::format(" class=\"hollow\" fill=\"{}\" stroke=\"currentColor\" stroke-width=\"1.4\"", kGround);
  append(shape, hover);
}

void Svg::box(Point corner, double width, double height, std::string_view colour, std::string_view hover) {
  append(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", place_text(corner[0]),
                     place_text(corner[1]), place_text(width), place_text(height), colour),
         hover);
}

void Svg::boxes(const std::vector<Point>& corners, double width, double height, std::string_view colour) {
  if (corners.empty()) return;
  std::string shapes;
  for (const Point& corner : corners) {
    // Each corner is rounded by itself, so that neighbours meet.
    shapes += fmt::format("M{0},{1}H{2}V{3}H{0}Z", place_text(corner[0]), place_text(corner[1]),
                          place_text(corner[0] + width), place_text(corner[1] + height));
  }
  append(fmt::format("<path fill=\"{}\" shape-rendering=\"crispEdges\" d=\"{}\"", colour, shapes), {});
}

void Svg::text_on(Point middle, std::string_view text, std::string_view shade, double size) {
  body_ += fmt::format(
      "<text pointer-events=\"none\" text-anchor=\"middle\" x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\">{}</text>\n",
      place_text(middle[0]), place_text(middle[1] + size * 0.36), place_text(size),
      is_dark(shade) ? std::string_view("#ffffff") : kInk, html_name(text));
}

void Svg::dot_on(Point middle, std::string_view shade, double radius) {
  body_ +=
      fmt::format("<circle pointer-events=\"none\" cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", place_text(middle[0]),
                  place_text(middle[1]), place_text(radius), is_dark(shade) ? std::string_view("#ffffff") : kInk);
}

std::string Svg::finish(double height) {
  const std::string size = fmt::format("width=\"{}\" height=\"{}\"", place_text(width_), place_text(height));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" {} role=\"img\" font-family=\"system-ui, "
      "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif\" font-size=\"11\">\n{}"
      "<rect class=\"ground\" {} fill=\"{}\"/>\n{}</svg>\n",
      place_text(width_), place_text(height), size, std::exchange(words_, {}), size, kGround, std::exchange(body_, {}));
}

}  // namespace millrace::report
