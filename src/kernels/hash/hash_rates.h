// Input: a device, and the CPU beside it.
// Output: the number of pixels that each of them hashes per second.
// Never: is called by code that hashes pictures for a user.
#pragma once

#include <cstddef>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/hash/hash.h"

namespace millrace::hashes {

// Returns millions of pixels per second, for `count` RGB pictures of 1,600 x 1,200 at once, many times over. Without an
// accelerator the CPU hashes them, one picture per thread. Returns 0 where the device did not hash them.
double measure_pixels_per_second(const HashRequest& request, std::size_t count, const Executor& executor,
                                 Accelerator* accelerator);

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::hashes
