// Input: a request to end work early.
// Output: a flag that every long operation polls.
// Never: ends anything by itself.
#pragma once

#include <atomic>

namespace millrace {

// Flag that any thread or signal handler may set; it is never cleared.
class CancelToken {
 public:
  void cancel() { flag_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace millrace
