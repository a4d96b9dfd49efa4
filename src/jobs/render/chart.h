// Enters: one window of prices.
// Leaves: its chart, as spans of ink.
// Never: depends on another window, unless --scale global says so.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/jobs/render/options.h"
#include "src/kernels/ink/ink.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::render {

// Draws charts one after the other, with the memory of the first. One thread at a time.
class ChartPen {
 public:
  explicit ChartPen(const Options& options);

  // `prices`: NaN is a gap, at which the line ends and begins anew; a price between two gaps is a dot. The row of n
  // lies at x = i (W - 1) / (n - 1), a single one in the middle. With lowest < highest, they are the scale's ends, else
  // the window's own. Where they are equal (constant prices), the line runs in the middle. Without a price, the chart
  // is empty.
  void draw(std::span<const double> prices, double lowest, double highest, ink::Picture& out);

  static std::size_t memory_needed(const Options& options);

 private:
  const int width_, height_;
  const bool logarithms_;
  stroke::Pen pen_;
  std::vector<double> values_;
  std::vector<stroke::Point> points_;
};

}  // namespace millrace::render
