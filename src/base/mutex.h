// Input: data that several threads share, each member annotated with MILLRACE_GUARDED_BY and the mutex that guards it.
// Output: a mutex, a lock and a condition variable that Clang's -Wthread-safety follows; `./dev lint` runs it.
// Never: anything at run time beyond what std::mutex and std::condition_variable do, whose own types carry no
// annotations.
//
// A function that expects its caller to hold a mutex is annotated with MILLRACE_REQUIRES. A condition is awaited in a
// loop, not by a predicate: the analysis does not look into lambdas.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define MILLRACE_THREAD_SAFETY(x) __attribute__((x))
#else
#define MILLRACE_THREAD_SAFETY(x)
#endif
#define MILLRACE_GUARDED_BY(x) MILLRACE_THREAD_SAFETY(guarded_by(x))
#define MILLRACE_REQUIRES(...) MILLRACE_THREAD_SAFETY(requires_capability(__VA_ARGS__))
// The rest is for this file.
#define MILLRACE_ACQUIRES(...) MILLRACE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define MILLRACE_RELEASES(...) MILLRACE_THREAD_SAFETY(release_capability(__VA_ARGS__))

namespace millrace {

class MILLRACE_THREAD_SAFETY(capability("mutex")) Mutex {
 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex until its end. unlock() lets go of it before, lock() takes it again.
class MILLRACE_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MILLRACE_ACQUIRES(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() MILLRACE_RELEASES() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  void lock() MILLRACE_ACQUIRES() { lock_.lock(); }
  void unlock() MILLRACE_RELEASES() { lock_.unlock(); }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

// Every wait can end early: the caller checks its condition again.
class Condition {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }
  void wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  template <typename Rep, typename Period>
  std::cv_status wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> time) {
    return condition_.wait_for(lock.lock_, time);
  }

 private:
  std::condition_variable condition_;
};

}  // namespace millrace
