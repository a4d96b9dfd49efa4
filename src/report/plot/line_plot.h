// Input: numbers of several series at the same places, steps as a rule, with intervals about them.
// Output: a figure of lines with bands, one panel or several that share their x.
// Never: draws across a gap, or hides that a number is absent.
#pragma once

#include <string>
#include <vector>

#include "src/report/figure.h"
#include "src/report/plot/axis.h"

namespace millrace::report {

// By x; NaN where there is no number, and on a logarithmic scale what is not above zero counts as absent.
struct Line {
  std::vector<double> y;
  std::vector<double> low, high;  // the interval about each y; empty: none
};

struct LinePanel {
  std::string title;
  std::string y_title;      // with its unit; may be empty where the title says it
  std::vector<Line> lines;  // as many as LinePlot::names; a shorter list leaves the last ones out
};

struct LinePlot {
  std::string title, caption, description;
  std::string x_title;
  std::vector<double> x;  // ascending; of any length, 1 is drawn as marks
  bool whole_x = true;    // steps: ticks at whole numbers only
  Scale x_scale = Scale::linear, y_scale = Scale::linear;
  std::vector<std::string> names;  // of the series
  std::string interval;            // what low and high are: "95 % interval"
  std::vector<LinePanel> panels;
};

// One panel is wide, with names at the lines' ends where they have room there; more stand two or three in a row below a
// legend.
Figure draw(const LinePlot& plot);

}  // namespace millrace::report
