// Input: threads, memory, devices, and a cancel token.
// Output: one object with everything that a run works with.
// Never: shares any of it with another run: two runs live in one process and do not see each other.
#pragma once

#include <array>
#include <cstdint>

#include "src/base/choice.h"
#include "src/device/cpu/executor.h"
#include "src/device/engines.h"
#include "src/io/image/helper_pool.h"
#include "src/memory/budget.h"
#include "src/pipeline/progress.h"
#include "src/trace/trace.h"

namespace millrace {

// Places where untrusted bytes are read. `rare`: rare image formats, HDF5 and video are read in helper processes, and
// the rest in the program. `all`: JPEG and PNG are read in helpers too, and the program has a sandbox of its own.
enum class SandboxMode : std::uint8_t { rare, all };
constexpr std::array<Choice<SandboxMode>, 2> choices_of(SandboxMode) {
  return {{{"rare", SandboxMode::rare}, {"all", SandboxMode::all}}};
}

struct RunContext {
  const Executor& executor;
  const CancelToken& cancel;
  Trace& trace;
  Budget& budget;
  ProgressTarget progress = ProgressStyle::none;
  // Device that helps the CPU where an operation can use it; null: none.
  Accelerator* accelerator = nullptr;
  // Processes that decode the files that are not decoded in this one.
  HelperPool helpers{budget.limit()};
  SandboxMode sandbox = SandboxMode::rare;

  // Returns the engines for operations that have versions for a device.
  Engines engines() const { return {executor, accelerator}; }

  // Throws Failure(cancelled) if the job was cancelled.
  void throw_if_cancelled() const {
    if (cancel.cancelled()) throw Failure(interrupted());
  }
};

}  // namespace millrace
