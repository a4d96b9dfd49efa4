// Input: a device, and the CPU beside it.
// Output: how fast each of them measures latents.
// Never: is called while a user's latents are measured.
#pragma once

#include <cstddef>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Shape of the latents in the published run.
inline constexpr LatentShape kTypicalShape{16, 16, 60, 106};

// Returns millions of numbers per second, with `count` latents of float16 at once, many times over, for all metrics.
// The latents come from the host's memory, or lie on the accelerator's device, which only CUDA supports. Without an
// accelerator the CPU measures them, a latent per thread. The result is 0 if the device did not measure them.
double measure_elements_per_second(const LatentShape& shape, std::size_t count, const Executor& executor,
                                   Accelerator* accelerator, bool on_device = false);

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::latents
