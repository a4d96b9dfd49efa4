// Input: inputs that are the same everywhere.
// Output: the registry of kernels: the answer that each gives for them, and the expected answer.
// Never: measures speed, reads or writes files.
//
// `doctor` tests every kernel at every level of this machine; so do the tests of levels. A folder of kernels that is
// not named here fails lint.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/kernels/test_vectors/inputs.h"

namespace millrace::test_vectors {

struct KnownAnswer {
  const char* kernel;     // folder of the kernel
  const char* operation;  // name of the operation
  // Expected answer; it changes only with the operation's definition.
  const char* expected;
  std::string (*give)(const TestInputs& inputs);
};

// Returns the answers of every kernel; all of them take well under a second at one level.
std::vector<KnownAnswer> answers();

// Answers are grouped by what they work on.
std::span<const KnownAnswer> picture_answers();
std::span<const KnownAnswer> code_answers();
std::span<const KnownAnswer> chart_answers();
std::span<const KnownAnswer> similarity_answers();
std::span<const KnownAnswer> latent_answers();
std::span<const KnownAnswer> statistics_answers();

}  // namespace millrace::test_vectors
