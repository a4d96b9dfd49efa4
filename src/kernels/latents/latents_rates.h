// Input: a device, and the CPU beside it.
// Output: how many latents a second each of them measures.
// Never: is called by what measures latents for a person.
#pragma once

#include <cstddef>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Of [16, 16, 60, 106], as the published run had them.
inline constexpr Shape kUsualShape{16, 16, 60, 106};

// Millions of numbers a second, of `count` latents of float16 at once, many times over, all metrics. They come from the
// host's memory, or lie on the accelerator's device, which CUDA's alone can. Without an accelerator the CPU measures
// them, a latent a thread; 0 where its device did not.
double elements_a_second(const Shape& shape, std::size_t count, const Executor& executor, Accelerator* accelerator,
                         bool on_device = false);

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor);

}  // namespace millrace::latents
