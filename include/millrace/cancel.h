// Input: somebody's wish that work ends early.
// Output: a flag that everything that takes long looks at.
// Never: ends anything by itself.
#pragma once

#include <atomic>

namespace millrace {

// Set from any thread, or from a signal's handler, and never taken back.
class CancelToken {
 public:
  void cancel() { flag_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace millrace
