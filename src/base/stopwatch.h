// Input: none.
// Output: the number of seconds since the construction.
// Never: follows a clock that people or the network adjust.
#pragma once

#include <chrono>

namespace millrace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace millrace
