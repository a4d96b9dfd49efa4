#include "calls.h"

#include <algorithm>

namespace millrace::python {
namespace {

void throw_if_signalled() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace

void interruptible(const std::function<void(const CancelToken&)>& work, const std::function<void()>& meanwhile) {
  CancelToken cancel;
  std::exception_ptr failed;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr wanted;  // why it was cancelled
  {
    nb::gil_scoped_release release;
    std::thread worker([&] {
      try {
        work(cancel);
      } catch (...) {
        failed = std::current_exception();
      }
      // Under the lock: whoever waits ends with these.
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return ended; })) {
      if (wanted) continue;
      lock.unlock();
      try {
        nb::gil_scoped_acquire acquire;
        throw_if_signalled();
        if (meanwhile) meanwhile();
      } catch (...) {
        wanted = std::current_exception();
        cancel.cancel();
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (wanted) std::rethrow_exception(wanted);
  if (failed) std::rethrow_exception(failed);
  if (meanwhile) meanwhile();
}

void in_parts(std::size_t count, std::size_t most, const std::function<void(std::size_t, std::size_t)>& part) {
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t end = begin + std::min(most, count - begin);
    {
      nb::gil_scoped_release release;
      part(begin, end);
    }
    begin = end;
    throw_if_signalled();
  }
}

}  // namespace millrace::python
