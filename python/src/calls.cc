#include "calls.h"

#include <algorithm>
#include <set>

#include "millrace/error.h"

namespace millrace::python {
namespace {

void throw_if_signalled() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Changed with Python's lock held, so that no other thread is in it when somebody forks.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<UnderWay*> under_way;
  bool ends = false;
  pid_t process = ::getpid();

  // Those of a parent have not come along.
  void be_of_this_process() {
    if (process == ::getpid()) return;
    under_way.clear();
    process = ::getpid();
  }
};
Calls& calls() {
  static Calls& all = *new Calls;  // threads may outlive what is destroyed at the end
  return all;
}

Failure ended() { return Failure(ErrorCode::cancelled, "the interpreter ends", "this process", ""); }

}  // namespace

UnderWay::UnderWay() {
  const std::lock_guard lock(calls().mutex);
  calls().be_of_this_process();
  if (calls().ends) throw ended();
  calls().under_way.insert(this);
}
UnderWay::~UnderWay() {
  const std::lock_guard lock(calls().mutex);
  calls().under_way.erase(this);
  calls().changed.notify_all();
}

void end_calls() {
  nb::gil_scoped_release release;
  std::unique_lock lock(calls().mutex);
  calls().be_of_this_process();
  calls().ends = true;
  for (UnderWay* call : calls().under_way) call->cancel.cancel();
  // What does not look at that is short.
  calls().changed.wait_for(lock, std::chrono::seconds(10), [] { return calls().under_way.empty(); });
}

void interruptible(const std::function<void(const CancelToken&)>& work, const std::function<void()>& meanwhile) {
  UnderWay call;
  CancelToken& cancel = call.cancel;
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
  const UnderWay call;
  for (std::size_t begin = 0; begin < count;) {
    if (call.cancel.cancelled()) throw ended();
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
