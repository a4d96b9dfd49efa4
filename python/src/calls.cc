#include "calls.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "millrace/error.h"

namespace millrace::python {
namespace {

void throw_if_signalled() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Calls of this process. Changed with Python's lock held, so that no other thread changes it during a fork.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<RunningCall*> under_way;
  bool ends = false;
  bool forked_within = false;  // the parent had a call on another thread, whose locks are never released here
  pid_t process = ::getpid();

  void reset_after_fork() {
    if (process == ::getpid()) return;
    forked_within = forked_within || !under_way.empty();
    under_way.clear();
    ends = false;
    process = ::getpid();
  }
};
Calls& calls() {
  static Calls& all = *new Calls;  // never freed: threads may outlive static objects
  return all;
}

Failure ended() { return Failure(ErrorCode::cancelled, "the Python interpreter is exiting", "this process", ""); }

}  // namespace

RunningCall::RunningCall() {
  const std::lock_guard lock(calls().mutex);
  calls().reset_after_fork();
  if (calls().ends) throw ended();
  if (calls().forked_within) {
    throw Failure(ErrorCode::unavailable, "it was forked while a call was running in its parent", "this process",
                  "fork before or after calls, or start processes with the method spawn");
  }
  calls().under_way.insert(this);
}
RunningCall::~RunningCall() {
  const std::lock_guard lock(calls().mutex);
  // A forked child keeps the entry: the thread of the work does not exist there.
  if (calls().process == ::getpid()) calls().under_way.erase(this);
  calls().changed.notify_all();
}

void end_calls() {
  nb::gil_scoped_release release;
  std::unique_lock lock(calls().mutex);
  calls().reset_after_fork();
  calls().ends = true;
  for (RunningCall* call : calls().under_way) call->cancel.cancel();
  // A device may take long to notice the cancellation.
  calls().changed.wait_for(lock, std::chrono::seconds(10), [] { return calls().under_way.empty(); });
}

void run_interruptible(const std::function<void(const CancelToken&)>& work, const std::function<void()>& meanwhile) {
  RunningCall call;
  CancelToken& cancel = call.cancel;
  std::exception_ptr failed;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr wanted;  // reason of the cancellation
  const pid_t process = ::getpid();
  {
    nb::gil_scoped_release release;
    auto worker = std::make_unique<std::thread>([&] {
      try {
        work(cancel);
      } catch (...) {
        failed = std::current_exception();
      }
      // Notified under the lock: the waiting thread destroys these objects when it returns.
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
        if (process != ::getpid()) {
          throw Failure(ErrorCode::unavailable, "its callback forked the process", "this call",
                        "do not fork in a callback");
        }
      } catch (...) {
        if (process != ::getpid()) {
          // This is the child of a fork in the callback. The thread does not exist here and cannot be joined.
          static_cast<void>(worker.release());
          throw;
        }
        wanted = std::current_exception();
        cancel.cancel();
      }
      lock.lock();
    }
    lock.unlock();
    worker->join();
  }
  if (wanted) std::rethrow_exception(wanted);
  if (failed) std::rethrow_exception(failed);
  if (meanwhile) meanwhile();
}

void run_interruptible(std::uint64_t bytes, const std::function<void(const CancelToken&)>& work) {
  constexpr std::uint64_t kFew = 512 << 10;
  if (bytes > kFew) return run_interruptible(work);
  const RunningCall call;
  nb::gil_scoped_release release;
  work(call.cancel);
}

}  // namespace millrace::python
