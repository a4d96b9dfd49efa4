// Input: work of the library.
// Output: the work done with Python's lock released, or ended early by Ctrl-C or by an exception of a callback.
// Never: returns while the work still runs.
#pragma once

#include <nanobind/nanobind.h>

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "millrace/cancel.h"

namespace millrace::python {

namespace nb = nanobind;

// A call that runs without Python's lock. Made and destroyed with the lock held. When the interpreter exits, calls of
// other threads are cancelled and awaited: a thread that asks for the lock after the exit never returns.
class RunningCall {
 public:
  RunningCall();  // throws Failure(cancelled) if the interpreter is exiting
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  CancelToken cancel;
};
// Ends all calls; registered with the module `atexit`.
void end_calls();

// Runs `work` on another thread. Meanwhile this thread polls Python's signals and calls `meanwhile` with the lock held,
// twenty times a second. An exception of either cancels the work, waits for it, and is rethrown.
void run_interruptible(const std::function<void(const CancelToken&)>& work,
                       const std::function<void()>& meanwhile = {});

// Does the same for work that takes as long as reading and writing `bytes` of images. Work on few bytes, which takes
// some hundredths of a second, runs on this thread.
void run_interruptible(std::uint64_t bytes, const std::function<void(const CancelToken&)>& work);

// An object that is made again in a child of fork(), where the parent's object must not be touched. Used with Python's
// lock held. Making an object may release the lock; of two that are made meanwhile, one is kept.
template <typename Object>
class PerProcess {
 public:
  explicit PerProcess(std::function<Object*()> make) : make_(std::move(make)), object_(make_()), process_(::getpid()) {}
  ~PerProcess() {
    if (process_ == ::getpid()) delete object_;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  Object& get() {
    if (process_ == ::getpid()) return *object_;
    std::unique_ptr<Object> made(make_());
    if (process_ != ::getpid()) {
      object_ = made.release();
      process_ = ::getpid();
    }
    return *object_;
  }

 private:
  std::function<Object*()> make_;
  Object* object_;
  pid_t process_;
};

}  // namespace millrace::python
