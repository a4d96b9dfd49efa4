// Input: a device and the CPU's threads.
// Output: the number of pairs of codes that each of them compares per second.
// Never: uses the codes of a user.
#pragma once

#include <string>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"

namespace millrace::hamming {

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::hamming
