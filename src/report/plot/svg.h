// Input: lines, marks and texts with their places, in CSS pixels from the left and the top.
// Output: one self-contained SVG document: colours as attributes, named fonts, a white background, title and
//   description.
// Never: contains a style sheet, a script, an address, an id, a place that is not finite, or a name that is not
//   escaped.
//
// Colours go through `color` and `currentColor`. Every element with a colour also has a class (s0 to s6, ink, dim,
// grid, axis, ground). A page can therefore show the same picture in other colours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/plot/palette.h"

namespace millrace::report {

enum class Anchor { start, middle, end };
enum class Foreground { foreground, dim, grid, axis };

using PlotPoint = std::array<double, 2>;
bool is_finite(PlotPoint point);

struct TextStyle {
  Foreground foreground = Foreground::foreground;
  Anchor anchor = Anchor::start;
  double size = 11;
  bool bold = false;
  bool upright = false;  // rotated by 90 degrees, read from below
};

// Returns a coordinate as text: at most one decimal, "0" if it is not finite.
std::string format_coordinate(double value);

// Returns the approximate width of a text in pixels: there are no fonts here to measure.
double text_width(std::string_view text, double size = 11);

class Svg {
 public:
  // Title and description are for readers who cannot see the picture; the description may be empty.
  Svg(double width, std::string_view title, std::string_view description);

  void line(PlotPoint from, PlotPoint to, Foreground foreground, double width = 1);
  // Adds a text of any bytes, escaped. `hover` is a tooltip, if it says more than the text.
  void text(PlotPoint at, std::string_view text, const TextStyle& style, std::string_view hover = {});

  // Adds a title in bold with its unit behind it; either may be empty.
  void heading(PlotPoint at, std::string_view title, std::string_view unit, std::string_view hover);

  // Begins the elements of the Nth series, up to close(): its colour, and a title if it has a name.
  void open_series(std::size_t n, std::string_view name);
  void open_foreground(Foreground foreground);
  void close() { body_ += "</g>\n"; }

  // Adds a path through finite points inside a series: there are gaps where a point has NaN in it.
  void path(const std::vector<PlotPoint>& points, std::string_view dash, double width = 1.6);
  // Adds an area between two lines of as many points, filled lightly; gaps are as above.
  void band(const std::vector<PlotPoint>& upper, const std::vector<PlotPoint>& lower, double opacity);
  void closed(const std::vector<PlotPoint>& points, double fill_opacity);
  void mark(PlotPoint at, MarkerShape mark, double radius, bool filled = true, std::string_view hover = {});

  void box(PlotPoint corner, double width, double height, std::string_view colour, std::string_view hover = {});
  // Adds boxes of one colour as one path, each of `width` x `height` from its corner.
  void boxes(const std::vector<PlotPoint>& corners, double width, double height, std::string_view colour);
  // Adds a text on a shade, light or dark by the shade.
  void text_on(PlotPoint middle, std::string_view text, std::string_view shade, double size);
  void dot_on(PlotPoint middle, std::string_view shade, double radius);

  // Returns the document. Its height is known when everything has its place.
  std::string finish(double height);

 private:
  void append(std::string_view shape, std::string_view hover);

  double width_;
  std::string words_, body_;  // title and description; what is drawn
};

}  // namespace millrace::report
