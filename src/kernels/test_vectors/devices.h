// Input: nothing.
// Output: the registry of kernels for devices: their text, their signatures, whether a device gives their known
// answers, and how fast it is.
// Never: is called for what a job computes. Kernels that are not listed here are neither inspected, attested, nor
// tuned.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/accelerator.h"
#include "src/device/cpu/executor.h"
#include "src/device/kernel_source.h"

namespace millrace::test_vectors {

struct DeviceKernels {
  const KernelSource& (*source)();
  std::span<const KernelEntry> entries;
  bool (*test_vectors)(Accelerator& accelerator);
  // Same for inputs that are generated from the number of a round, which begins with 1. They grow: in round 32 they are
  // as large as a run's.
  bool (*agrees_with_cpu)(Accelerator& accelerator, const Executor& executor, std::uint64_t round);
  // Measures rates, for some seconds an operation.
  std::vector<MeasuredRate> (*measure)(Accelerator& accelerator, const Executor& executor);
};

std::span<const DeviceKernels> device_kernels();
// Returns the hashes of their PTX.
std::vector<std::string_view> device_kernel_hashes();

}  // namespace millrace::test_vectors
