// Input: labelled numbers with intervals about them.
// Output: a figure with a row for each: the label, a dot on its interval, and a text beside it.
// Never: judges: callers decide which dots are filled.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

struct ForestPlotRow {
  std::string label;        // text to the left
  std::string of;           // text below the label in smaller letters; may be empty
  double value, low, high;  // NaN where absent
  bool marked = true;       // true for a filled dot, false for a hollow one
  std::string words;        // text to the right: "p = 0.003"
  std::size_t series = 0;   // series whose colour and mark it has
};

struct ForestPlot {
  std::string title, caption, description;
  std::string value_title;   // with its unit
  std::string mark_meaning;  // meaning of a filled dot; empty: all are filled
  double line_at = 0;        // NaN: no line
  std::vector<ForestPlotRow> rows;
  int width = 960;  // width of the picture, in pixels
};

Figure draw(const ForestPlot& effects);

}  // namespace millrace::report
