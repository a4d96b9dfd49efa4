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

// Changed with Python's lock held, so that no other thread is in it when somebody forks.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<RunningCall*> under_way;
  bool ends = false;
  bool forked_within = false;  // a call of another thread, which has not come along: what it held is held for ever
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
  static Calls& all = *new Calls;  // threads may outlive what is destroyed at the end
  return all;
}

Failure ended() { return Failure(ErrorCode::cancelled, "the interpreter ends", "this process", ""); }

}  // namespace

RunningCall::RunningCall() {
  const std::lock_guard lock(calls().mutex);
  calls().reset_after_fork();
  if (calls().ends) throw ended();
  if (calls().forked_within) {
    throw Failure(ErrorCode::unavailable, "it was forked while a call was under way in its parent", "this process",
                  "fork before or behind calls, or start processes with spawn");
  }
  calls().under_way.insert(this);
}
RunningCall::~RunningCall() {
  const std::lock_guard lock(calls().mutex);
  // In a child it stays: of its work nothing has come along.
  if (calls().process == ::getpid()) calls().under_way.erase(this);
  calls().changed.notify_all();
}

void end_calls() {
  nb::gil_scoped_release release;
  std::unique_lock lock(calls().mutex);
  calls().reset_after_fork();
  calls().ends = true;
  for (RunningCall* call : calls().under_way) call->cancel.cancel();
  // A device may not look at that for long.
  calls().changed.wait_for(lock, std::chrono::seconds(10), [] { return calls().under_way.empty(); });
}

void run_interruptible(const std::function<void(const CancelToken&)>& work, const std::function<void()>& meanwhile) {
  RunningCall call;
  CancelToken& cancel = call.cancel;
  std::exception_ptr failed;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr wanted;  // why it was cancelled
  const pid_t process = ::getpid();
  {
    nb::gil_scoped_release release;
    auto worker = std::make_unique<std::thread>([&] {
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
        if (process != ::getpid()) {
          throw Failure(ErrorCode::unavailable, "it was forked by a callback", "this call", "fork elsewhere");
        }
      } catch (...) {
        if (process != ::getpid()) {
          // The callback has forked, and this is the child: it has no such thread, which nothing can be said of.
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
