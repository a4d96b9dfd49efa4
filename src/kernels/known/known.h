// Input: inputs that are the same everywhere.
// Output: the registry of kernels: what each makes of them, and what it has to make of them.
// Never: measures speed, reads or writes files.
//
// `doctor` asks every kernel at every level of this machine; the tests of levels do, too. A folder of kernels that is
// not named here fails lint.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/kernels/known/inputs.h"

namespace millrace::known {

struct Answer {
  const char* kernel;     // its folder
  const char* operation;  // which of its operations
  // Changes only with the operation's definition.
  const char* expected;
  std::string (*give)(const Inputs& inputs);
};

// Of every kernel; well under a second for all of them at one level.
std::vector<Answer> answers();

// They are put together by what they work on.
std::span<const Answer> picture_answers();
std::span<const Answer> code_answers();
std::span<const Answer> chart_answers();
std::span<const Answer> similarity_answers();
std::span<const Answer> latent_answers();
std::span<const Answer> statistics_answers();

}  // namespace millrace::known
