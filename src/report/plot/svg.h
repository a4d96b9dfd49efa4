// Input: lines, marks and words with their places, in CSS pixels from the left and the top.
// Output: one SVG document that stands alone: colours as attributes, fonts named, a white ground, title and
// description. Never: a style sheet, a script, an address, an id; a place that is not finite; a name that is not
// escaped.
//
// Colours go through `color` and `currentColor`, and every element that has one has a class as well (s0 to s6, ink,
// dim, grid, axis, ground), so that a page can show the same picture in other colours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/plot/palette.h"

namespace millrace::report {

enum class Anchor { start, middle, end };
enum class Ink { ink, dim, grid, axis };

using Point = std::array<double, 2>;
bool finite(Point point);

struct TextLook {
  Ink ink = Ink::ink;
  Anchor anchor = Anchor::start;
  double size = 11;
  bool bold = false;
  bool upright = false;  // turned by 90 degrees, read from below
};

// A place in the text of a picture: at most one decimal, "0" for what is not finite.
std::string place_text(double value);

// About how wide a text is, in pixels: there are no fonts here to ask.
double text_width(std::string_view text, double size = 11);

class Svg {
 public:
  // Title and description are for who cannot see the picture; the description may be empty.
  Svg(double width, std::string_view title, std::string_view description);

  void line(Point from, Point to, Ink ink, double width = 1);
  // Of any bytes; escaped here. `hover`: what a pointer is told, where it is more than the text.
  void text(Point at, std::string_view text, const TextLook& look, std::string_view hover = {});

  // A title in bold with what it is measured in behind it; either may be empty.
  void heading(Point at, std::string_view title, std::string_view unit, std::string_view hover);

  // What follows, until close(), is of the Nth series: its colour, and a title where it has a name.
  void open_series(std::size_t n, std::string_view name);
  void open_ink(Ink ink);
  void close() { body_ += "</g>\n"; }

  // Inside a series. A path through what is finite: gaps where a point has NaN in it.
  void path(const std::vector<Point>& points, std::string_view dash, double width = 1.6);
  // Between two lines of as many points, filled lightly; gaps as above.
  void band(const std::vector<Point>& upper, const std::vector<Point>& lower, double opacity);
  void closed(const std::vector<Point>& points, double fill_opacity);
  void mark(Point at, Mark mark, double radius, bool filled = true, std::string_view hover = {});

  void box(Point corner, double width, double height, std::string_view colour, std::string_view hover = {});
  // Squares of one colour as one path: corners of `width` x `height`.
  void boxes(const std::vector<Point>& corners, double width, double height, std::string_view colour);
  // A word on a shade, light or dark by the shade.
  void text_on(Point middle, std::string_view text, std::string_view shade, double size);
  void dot_on(Point middle, std::string_view shade, double radius);

  // How high it is, is known when everything has its place.
  std::string finish(double height);

 private:
  void append(std::string_view shape, std::string_view hover);

  double width_;
  std::string words_, body_;  // title and description; what is drawn
};

}  // namespace millrace::report
