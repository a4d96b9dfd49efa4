// Input: what a run may compute with.
// Output: the same in one hand, for operations.
// Never: chooses: an operation does, and falls back.
#pragma once

#include "src/device/cpu/executor.h"

namespace millrace {

class Accelerator;

struct Engines {
  Engines(const Executor& executor, Accelerator* accelerator = nullptr)  // NOLINT(google-explicit-constructor)
      : executor(executor), accelerator(accelerator) {}

  const Executor& executor;
  Accelerator* accelerator;  // null: there is none but the CPU
};

}  // namespace millrace
