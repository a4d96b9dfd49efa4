// Input: a matrix of numbers with names for its rows and columns, up to 128 x 128.
// Output: a figure of shaded cells, with a bar that explains the shades, and numbers in the cells where there is room.
// Never: gives an absent number the shade of any other.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/report/figure.h"
#include "src/report/plot/palette.h"

namespace millrace::report {

struct HeatMap {
  std::string title, caption, description;
  std::string row_title, column_title, value_title;
  std::vector<std::string> rows, columns;  // long names are shown without their middle
  std::vector<double> values;              // row after row; NaN where absent
  Shades shades = Shades::sequential;
  // Values at the ends of the shades. NaN means the range of the numbers, which diverging shades extend equally far to
  // both sides of 0.
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> texts;  // texts of the cells, if they are not their numbers; else empty
  std::vector<bool> marks;         // cells with a dot; empty: none
  std::string mark_meaning;        // "family-wise p ≤ 0.05"
  // Texts along the bar by value; empty: ticks of the numbers.
  std::vector<std::pair<double, std::string>> bar;
  bool square = false;    // cells as high as wide
  bool hover = true;      // tooltips of cells, up to 1,024 of them
  bool triangle = false;  // true to show only what is below the diagonal: the matrix is symmetric
  int width = 960;        // width of the picture, in pixels
};

// Throws Failure(internal) if values, texts or marks are not rows x columns.
Figure draw(const HeatMap& map);

}  // namespace millrace::report
