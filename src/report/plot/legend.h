// Input: names of series.
// Output: a legend: line, mark and name of each, in as many rows as they need.
// Never: is wider than was requested.
#pragma once

#include <string>
#include <vector>

#include "src/report/plot/svg.h"

namespace millrace::report {

class Legend {
 public:
  enum class Sample { line, mark };
  // Arranges the names in rows of at most `width`; long names lose their middle.
  Legend(const std::vector<std::string>& names, double width, Sample sample);
  double height() const;
  void draw(Svg& svg, PlotPoint corner) const;

 private:
  struct Item {
    std::string name, shown;
    PlotPoint at;
  };
  std::vector<Item> items_;
  Sample sample_;
  int rows_ = 1;
};

}  // namespace millrace::report
