// Input: one thread's events.
// Output: the same, for those who add to them and those who write them.
// Never: is seen outside of this folder.
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
