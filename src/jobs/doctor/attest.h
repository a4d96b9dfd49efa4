// Input: a device.
// Output: for each kernel source, whether the device gave the same answers as the CPU to all inputs tried.
// Never: tests as much as the test suite: attestations for all devices of a kind, which come with the program, need the
//   suite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/device/device.h"

namespace millrace::doctor {

struct KernelTrial {
  std::string source, hash;
  bool right = false;
  std::string why;  // reason if it is not right
};

// Checks the known answers. Then checks `rounds` of inputs of all kinds and growing sizes
// (test_vectors::DeviceKernels::agrees_with_cpu), each of which the CPU computes too. Throws Failure(cancelled).
std::vector<KernelTrial> test_kernels(const Device& device, const Executor& executor, std::uint64_t rounds);

}  // namespace millrace::doctor
