// Input: a device.
// Output: true if it draws test charts exactly as the CPU does.
// Never: reads a file.
#pragma once

#include <cstddef>
#include <vector>

#include "src/device/accelerator.h"
#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"
#include "src/kernels/chart/series_painter.h"

namespace millrace::chart {

// Makes random walks of prices with bars around them, some with gaps: [count, rows, columns].
std::vector<double> make_series(std::size_t count, std::size_t rows, std::size_t columns, std::uint64_t seed);

// Series, and the settings of their charts.
struct ChartTestVector {
  ChartSpec spec;
  PixelKind kind = PixelKind::bytes;
  std::size_t count = 0, before = 0;
  std::vector<double> series, ends{};

  SeriesArray array() const { return {series.data(), false, count, before, ends.empty() ? nullptr : ends.data()}; }
};
// Returns charts of every style, with and without the elements beside prices.
std::vector<ChartTestVector> make_test_vectors();
// Draws the charts on the CPU.
std::vector<std::uint8_t> draw_on_cpu(const ChartTestVector& charts, const Format& format);
Format test_vector_format(const ChartTestVector& charts);

bool gives_known_answers(Accelerator& accelerator);
// Compares series and styles that are generated from the number of the round, and grow with it.
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::chart
