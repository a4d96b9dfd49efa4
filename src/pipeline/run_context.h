// Input: threads, memory, devices, and a person's wish to stop.
// Output: all that a run works with, in one hand.
// Never: shares any of it with another run: two of them live in one process and do not see each other.
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

// The places where a stranger's bytes are read: rare formats of pictures, HDF5 and film in helper processes, and the
// rest in the program; or JPEG and PNG in helpers too, and the program in a sandbox of its own.
enum class Sandbox : std::uint8_t { rare, all };
constexpr std::array<Choice<Sandbox>, 2> choices_of(Sandbox) {
  return {{{"rare", Sandbox::rare}, {"all", Sandbox::all}}};
}

struct RunContext {
  const Executor& executor;
  const CancelToken& cancel;
  Trace& trace;
  Budget& budget;
  ProgressTo progress = ProgressStyle::none;
  // What helps the CPU where an operation can use it; null: nothing does.
  Accelerator* accelerator = nullptr;
  // Who decodes what is not decoded in this process.
  HelperPool helpers{budget.limit()};
  Sandbox sandbox = Sandbox::rare;

  // For operations that have versions for a device.
  Engines engines() const { return {executor, accelerator}; }

  // Failure(cancelled) when the job was told to stop.
  void throw_if_cancelled() const {
    if (cancel.cancelled()) throw Failure(interrupted());
  }
};

}  // namespace millrace
