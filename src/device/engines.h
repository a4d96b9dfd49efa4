// Input: the executor and the accelerator of a run.
// Output: both in one object, for operations.
// Never: chooses one of them: an operation does, and falls back to the CPU.
#pragma once

#include "src/device/cpu/executor.h"

namespace millrace {

class Accelerator;

struct Engines {
  Engines(const Executor& executor, Accelerator* accelerator = nullptr)  // NOLINT(google-explicit-constructor)
      : executor(executor), accelerator(accelerator) {}

  const Executor& executor;
  Accelerator* accelerator;  // null: only the CPU is used
};

}  // namespace millrace
