// Input: a window, and the shares of a chart's height.
// Output: the elements that styles draw beside prices: the closes' moving average as numbers, the volume as bars.
// Never: scales prices.
#pragma once

#include <functional>
#include <vector>

#include "src/kernels/chart/chart.h"
#include "src/kernels/rle/canvas.h"

namespace millrace::chart {

// Division of a chart's pixel rows: height / 5 at the bottom for the volume, and one free row above them.
// docs/design/strokes.md gives the reasons for the constants of this file.
struct PixelRows {
  explicit PixelRows(const ChartSpec& spec)
      : volume(spec.volume ? spec.height / 5 : 0), price(spec.volume ? spec.height - volume - 1 : spec.height) {}
  int volume, price;
};

// Computes the mean of the last closes at each row, summed in row order; NaN if one of them is missing. Empty if no
// average is requested.
void compute_moving_average(const ChartSpec& spec, const ChartWindow& window, std::vector<double>& out);

// Draws volume bars of round(v Hv / max v) pixels, half to even, up from the canvas's bottom row. Each is in the
// columns [first, last] of its row.
struct BarColumns {
  int first, last;
};
void draw_volume(const ChartWindow& window, const PixelRows& rows, int height, std::uint8_t level,
                 const std::function<BarColumns(std::size_t)>& columns, rle::Canvas& canvas);

// Rounds half to even, in any rounding mode of the processor.
double round_even(double v);

}  // namespace millrace::chart
