// Input: numbers of several series at the same places, steps as a rule, with intervals about them.
// Output: a figure of lines with bands, in one panel or several that share their x.
// Never: draws across a gap, or hides that a number is absent.
#pragma once

#include <string>
#include <vector>

#include "src/report/figure.h"
#include "src/report/plot/axis.h"

namespace millrace::report {

// Values by x; NaN where there is none. On a logarithmic scale, values that are not above zero count as absent.
struct LineSeries {
  std::vector<double> y;
  std::vector<double> low, high;  // the interval about each y; empty: none
};

struct LinePanel {
  std::string title;
  std::string y_title;            // includes its unit; may be empty if the title has it
  std::vector<LineSeries> lines;  // as many as LinePlot::names; a shorter list leaves the last ones out
};

struct LinePlot {
  std::string title, caption, description;
  std::string x_title;
  std::vector<double> x;  // ascending; of any length; a single one is drawn as marks
  bool whole_x = true;    // steps: ticks at whole numbers only
  AxisScale x_scale = AxisScale::linear, y_scale = AxisScale::linear;
  std::vector<std::string> names;  // names of the series
  std::string interval;            // meaning of low and high: "95 % interval"
  std::vector<LinePanel> panels;
};

// A single panel is wide, with names at the lines' ends if there is room. Several panels are two or three per row,
// below a legend.
Figure draw(const LinePlot& plot);

}  // namespace millrace::report
