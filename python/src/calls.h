// Input: work of the library.
// Output: it done with Python's lock released, or ended early where Ctrl-C, or a callback, wants that.
// Never: leaves work behind.
#pragma once

#include <nanobind/nanobind.h>

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "millrace/cancel.h"

namespace millrace::python {

namespace nb = nanobind;

// A call that is under way without Python's lock. Made and destroyed with it. When the interpreter ends, calls of other
// threads are cancelled and waited for: a thread that asks for the lock behind that end never returns.
class RunningCall {
 public:
  RunningCall();  // Failure(cancelled) where the interpreter ends
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  CancelToken cancel;
};
// Ends all calls; registered with the module `atexit`.
void end_calls();

// On a thread of its own, while this one asks Python for signals, and calls `meanwhile` with the lock held, twenty
// times a second. What either throws cancels the work, which is waited for.
void run_interruptible(const std::function<void(const CancelToken&)>& work,
                       const std::function<void()>& meanwhile = {});

// The same, of work like reading and writing so many bytes of images: where they are few, on this thread, in some
// hundredths of a second.
void run_interruptible(std::uint64_t bytes, const std::function<void(const CancelToken&)>& work);

// Once more where this process is a child of fork(): what the parent's object holds is not to be touched here. Called
// with Python's lock, which making one may let go: of two that are made meanwhile one stays.
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
