// Input: a device.
// Output: of each source of kernels, whether it gave the CPU's answers there, to all that was asked.
// Never: asks as much as the suite does: what comes with the program for all cards of a kind is not found by this.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/device/device.h"

namespace millrace::doctor {

struct Trial {
  std::string source, hash;
  bool right = false;
  std::string why;  // it is not right
};

// The known answers; then `rounds` of inputs of all kinds and growing sizes (known::DeviceKernels::agrees), each of
// which the CPU does too. Failure(cancelled).
std::vector<Trial> try_out(const Device& device, const Executor& executor, std::uint64_t rounds);

}  // namespace millrace::doctor
