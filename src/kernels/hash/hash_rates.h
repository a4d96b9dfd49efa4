// Input: a device, and the CPU beside it.
// Output: how many pixels a second each of them hashes.
// Never: is called by what hashes pictures for a person.
#pragma once

#include <cstddef>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/hash/hash.h"

namespace millrace::hashes {

// Millions of pixels a second, of `count` RGB pictures of 1,600 x 1,200 at once, many times over. Without an
// accelerator the CPU hashes them, a picture a thread; 0 where its device did not.
double pixels_a_second(const HashRequest& request, std::size_t count, const Executor& executor,
                       Accelerator* accelerator);

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::hashes
