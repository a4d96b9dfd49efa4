// Input: a device.
// Output: whether its kernels find the pairs that the definition finds, of codes that are the same everywhere.
// Never: takes longer than some milliseconds.
#pragma once

#include <cstdint>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"

namespace millrace::hamming {

bool gives_known_answers(Accelerator& accelerator);
// Same test with codes and radii that are generated from the number of a round, and grow with it.
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::hamming
