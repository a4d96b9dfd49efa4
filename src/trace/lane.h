// Input: the events of one thread.
// Output: those events, for the code that appends to them and the code that writes the trace file.
// Never: is used outside of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/trace.h"

namespace millrace {

struct Trace::Lane {
  int thread = 0;
  std::uint64_t owner = 0;
  std::vector<Event> events;
};

}  // namespace millrace
