// Input: a device, and the CPU for comparison.
// Output: the number of charts per second that each of them draws.
// Never: influences which side draws charts: the location of the arrays decides that; these rates only inform people.
#pragma once

#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/chart/chart.h"

namespace millrace::chart {

// Returns charts of a style with 100 rows and 800 x 500 pixels; ohlc is 400 wide, jkx is 60 x 64 with 20 rows.
ChartSpec typical_spec(Style style);
// Measures charts per second, drawing `count` at once many times. Without an accelerator the CPU draws them into its
// own memory. With one, its device draws them, into its own memory if that has addresses. Returns 0 if it did not.
double measure_charts_per_second(const ChartSpec& spec, std::size_t count, const Executor& executor,
                                 Accelerator* accelerator);

// Measures streams per second, as stores keep them, in host memory.
double measure_streams_per_second(const ChartSpec& spec, std::size_t count, const Executor& executor,
                                  Accelerator* accelerator);

std::vector<MeasuredRate> measure_stream_rates(Accelerator& accelerator, const Executor& executor);
std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::chart
