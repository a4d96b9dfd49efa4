// Input: labelled numbers with intervals about them.
// Output: a figure of a row each: the label, a dot on its interval, and in words what stands beside it.
// Never: judges; which rows are filled was decided before.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "src/report/figure.h"

namespace millrace::report {

struct Effect {
  std::string label;        // to the left
  std::string of;           // below it in smaller letters, or nothing
  double value, low, high;  // NaN where absent
  bool marked = true;       // a filled dot, else a hollow one
  std::string words;        // to the right: "p = 0.003"
  std::size_t series = 0;   // whose colour and mark it has
};

struct Effects {
  std::string title, caption, description;
  std::string value_title;   // with its unit
  std::string mark_meaning;  // what a filled dot is; empty: all are filled
  double line_at = 0;        // NaN: no line
  std::vector<Effect> rows;
  int width = 960;  // of the picture, in pixels
};

Figure draw(const Effects& effects);

}  // namespace millrace::report
