// Input: a matrix of numbers with names for its rows and columns, up to 128 x 128.
// Output: a figure of shaded cells with a bar that tells what the shades are; numbers in the cells where there is room.
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
  // What the ends of the shades are; NaN: what the numbers reach, and as far on the other side of 0 where diverging.
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> texts;  // of the cells, where they are not the numbers'; else empty
  std::vector<bool> marks;         // cells with a dot; empty: none
  std::string mark_meaning;        // "family-wise p ≤ 0.05"
  // Texts along the bar by value; empty: ticks of the numbers.
  std::vector<std::pair<double, std::string>> bar;
  bool square = false;    // cells as high as wide
  bool hover = true;      // what a pointer is told of each cell, up to 1,024 of them
  bool triangle = false;  // only what is below the diagonal: the matrix is symmetric
  int width = 960;        // of the picture, in pixels
};

// Failure(internal) where values, texts or marks are not rows x columns.
Figure draw(const HeatMap& map);

}  // namespace millrace::report
