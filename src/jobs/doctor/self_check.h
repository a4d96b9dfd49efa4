// Input: nothing; the tests use an image and codes made from a fixed seed.
// Output: for every CPU level of this machine and every operation, whether it gives the known answer.
// Never: measures speed, or reads or writes files.
#pragma once

#include <string>
#include <vector>

#include "src/device/cpu/cpu_level.h"

namespace millrace::doctor {

struct SelfTestResult {
  CpuLevel level = CpuLevel::baseline;
  std::string operation;
  std::string expected, got;

  bool passed() const { return expected == got; }
};

// Runs every operation at every level, and restores the level that was in use. Takes well under a second. An answer
// changes only with the definition of its operation; then the constant in src/kernels/test_vectors changes as well.
std::vector<SelfTestResult> run_self_test();

}  // namespace millrace::doctor
