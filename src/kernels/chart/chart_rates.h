// Input: a device, and the CPU beside it.
// Output: how many charts a second each of them draws.
// Never: is called by what draws charts for a person: where arrays are decides who draws, and these inform people.
#pragma once

#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/chart/chart.h"

namespace millrace::chart {

// Charts of 100 rows and 800 x 500 pixels of a byte, of a style.
Spec usual_spec(Style style);
// Charts a second, of `count` at once, many times over. Without an accelerator the CPU draws them into its own memory;
// with one its device does, into its own memory where that has addresses. 0 where it did not.
double charts_a_second(const Spec& spec, std::size_t count, const Executor& executor, Accelerator* accelerator);

// The same of their streams, as stores keep them, in the host's memory.
double streams_a_second(const Spec& spec, std::size_t count, const Executor& executor, Accelerator* accelerator);

std::vector<MeasuredRate> measure_stream_rates(Accelerator& accelerator, const Executor& executor);
std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::chart
