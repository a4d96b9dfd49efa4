// Input: a cancel token, and a function to call once the token is cancelled.
// Output: one call of the function, soon after: for work that checks no token.
// Never: calls the function after the destructor.
#pragma once

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "src/base/mutex.h"

#include "include/millrace/cancel.h"

namespace millrace {

class CancelWatch {
 public:
  // `on_cancel` is called on a thread of this object, and throws nothing. `cancel`, and all that `on_cancel` uses, must
  // outlive this object.
  CancelWatch(const CancelToken& cancel, std::function<void()> on_cancel)
      : cancel_(cancel), on_cancel_(std::move(on_cancel)), thread_([this] { watch(); }) {}
  ~CancelWatch() {
    {
      const MutexLock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  CancelWatch(const CancelWatch&) = delete;
  CancelWatch& operator=(const CancelWatch&) = delete;

 private:
  void watch() {
    constexpr auto kPollInterval = std::chrono::milliseconds(50);
    MutexLock lock(mutex_);
    while (!ended_) {
      changed_.wait_for(lock, kPollInterval);
      if (ended_ || !cancel_.cancelled()) continue;
      lock.unlock();
      try {
        on_cancel_();
      } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is above this thread
      }
      return;
    }
  }

  const CancelToken& cancel_;
  const std::function<void()> on_cancel_;
  Mutex mutex_;
  Condition changed_;
  bool ended_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace millrace
