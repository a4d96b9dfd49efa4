// Input: a range of independent work and a function for ranges of it.
// Output: the work done on this job's threads.
// Never: influences a result: a body sees only its range, so any split gives the same bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "include/millrace/cancel.h"

namespace millrace {

// The threads of one job, passed to every operation that splits its work. In a child of fork() whose parent has had an
// executor there are no other threads: the calling thread does all work.
class Executor {
 public:
  // `threads` 0 means one thread per core that this process may run on.
  explicit Executor(int threads = 0, const CancelToken* cancel = nullptr);
  // Shares the threads of another executor, for one call with its own cancellation; cancelling it does not affect the
  // other executor.
  Executor(const Executor& threads, const CancelToken* cancel);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }
  bool cancelled() const { return cancel_ != nullptr && cancel_->cancelled(); }
  // Throws Failure(cancelled) if cancelled, with the message of interrupted().
  void throw_if_cancelled() const;
  void throw_if_cancelled(const char* remaining_state) const;

  // Calls body(begin, end) on disjoint ranges that cover [0, count), none shorter than `grain` except the last. Returns
  // when all are done and rethrows the first exception. Ranges that have not begun when the job is cancelled are
  // skipped: check cancelled() before using the result. May be called from inside a body.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& body) const;

  // Runs `work` inside this executor's threads, so that nested pipelines and loops share them.
  void run(const std::function<void()>& work) const;
  // Schedules `work` on one of these threads and returns, for callbacks from foreign threads. `work` must not throw.
  void enqueue(std::function<void()> work) const;

 private:
  struct Arena;
  int threads_;
  const CancelToken* cancel_;
  std::shared_ptr<Arena> arena_;
};

// True if this process is a child of fork() whose parent has had an executor. The parent's threads do not exist here,
// and locks that they held are never released.
bool is_forked_after_threads();

// Returns the number of cores this process may run on, from its affinity mask and the cgroup's CPU quota, rounded up.
int usable_cores();

}  // namespace millrace
