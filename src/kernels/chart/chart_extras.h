// Input: a window, and how much of a chart's height is whose.
// Output: what styles draw beside prices: the closes' moving average as numbers, the volume as bars.
// Never: scales prices.
#pragma once

#include <functional>
#include <vector>

#include "src/kernels/chart/chart.h"
#include "src/kernels/rle/canvas.h"

namespace millrace::chart {

// How a chart's rows are shared: the volume's at the bottom, height / 5 of them, and one free above.
struct Rows {
  explicit Rows(const Spec& spec)
      : volume(spec.volume ? spec.height / 5 : 0), price(spec.volume ? spec.height - volume - 1 : spec.height) {}
  int volume, price;
};

// The mean of the last closes at each row, summed in row order; NaN where one of them is missing. Empty where options
// ask for none.
void moving_average(const Spec& spec, const Window& window, std::vector<double>& out);

// round(v Hv / max v) pixels up from the canvas's bottom row, half to even, in the columns [first, last] of each row.
struct Columns {
  int first, last;
};
void draw_volume(const Window& window, const Rows& rows, int height, std::uint8_t level,
                 const std::function<Columns(std::size_t)>& columns, rle::Canvas& canvas);

// Half to even, whatever the processor's rounding mode is.
double round_even(double v);

}  // namespace millrace::chart
