// Input: a range of independent work and a function for parts of it.
// Output: the work done on this job's threads.
// Never: decides a result: a body sees only its range, so any split gives the same bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "include/millrace/cancel.h"

namespace millrace {

// The threads of one job, handed to every operation that splits its work. In a child of fork() whose parent has had one
// there are no threads to be had: all work is done by the calling one.
class Executor {
 public:
  // `threads` 0 means one a core this process may run on.
  explicit Executor(int threads = 0, const CancelToken* cancel = nullptr);
  // The same threads, for a call that may be cancelled alone; the other one goes on.
  Executor(const Executor& threads, const CancelToken* cancel);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  int threads() const { return threads_; }
  bool cancelled() const { return cancel_ != nullptr && cancel_->cancelled(); }
  // Failure(cancelled) if so, as interrupted() has it.
  void throw_if_cancelled() const;
  void throw_if_cancelled(const char* standing) const;

  // Calls body(begin, end) on disjoint ranges that cover [0, count), none shorter than `grain` but the last.
  // Returns when all are done; the first exception is thrown again. Ranges not yet begun when the job is
  // cancelled are skipped: check cancelled() before using the result. May be called from inside a body.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& body) const;

  // Runs `work` inside this executor's threads, so that pipelines and loops within share them.
  void run(const std::function<void()>& work) const;
  // Begins `work` on one of these threads, some time, and returns: for what comes from a thread of somebody else. It
  // must not throw.
  void enqueue(std::function<void()> work) const;

 private:
  struct Arena;
  int threads_;
  const CancelToken* cancel_;
  std::shared_ptr<Arena> arena_;
};

// This process is a child of fork() whose parent has had an executor: its threads have not come along, and what they
// held at that moment is held for ever.
bool is_forked_behind_threads();

// Cores this process may run on (its affinity mask and the cgroup's CPU quota, rounded up).
int usable_cores();

}  // namespace millrace
