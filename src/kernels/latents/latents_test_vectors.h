// Input: a device.
// Output: true if it measures some latents as the CPU does.
// Never: reads a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Made-up latents of one shape, of float16 or float32.
class SyntheticLatents {
 public:
  // Values change slowly, with noise; no two latents are the same.
  SyntheticLatents(const LatentShape& shape, bool halves, std::size_t count, std::uint64_t seed);
  std::vector<ArrayView> views();
  // Returns the values as bytes: two per element for float16, four for float32.
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  const LatentShape shape_;
  const bool halves_;
  const std::size_t count_;
  std::vector<std::byte> bytes_;
};

// Measures latents on the CPU.
std::vector<Measures> measure_on_cpu(const LatentShape& shape, const MetricSelection& metrics,
                                     const std::vector<ArrayView>& latents);

bool gives_known_answers(Accelerator& accelerator);
// Does the same with shapes and values that are made from the number of a round, and grow with it.
bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round);

}  // namespace millrace::latents
