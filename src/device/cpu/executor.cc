#include "src/device/cpu/executor.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#ifndef MILLRACE_SERIAL
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include "src/base/error.h"
#include "src/device/cpu/machine.h"

namespace millrace {
namespace {

std::atomic<bool> forked{false};

// Runs all ranges on the calling thread.
void run_serially(std::size_t count, std::size_t grain, const Executor& executor,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  for (std::size_t at = 0; at < count && !executor.cancelled(); at += std::min(grain, count - at)) {
    body(at, at + std::min(grain, count - at));
  }
}

}  // namespace

bool is_forked_after_threads() { return forked.load(std::memory_order_relaxed); }

#ifdef MILLRACE_SERIAL

struct Executor::Arena {};

Executor::Executor(int, const CancelToken* cancel) : threads_(1), cancel_(cancel) {}
Executor::Executor(const Executor&, const CancelToken* cancel) : threads_(1), cancel_(cancel) {}

void Executor::parallel_for(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) const {
  run_serially(count, std::max<std::size_t>(grain, 1), *this, body);
}

void Executor::run(const std::function<void()>& work) const { work(); }

void Executor::enqueue(std::function<void()> work) const { work(); }

#else

struct Executor::Arena {
  explicit Arena(int threads) : arena(threads) {
    if (threads > oneapi::tbb::info::default_concurrency()) {
      control.emplace(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    }
  }
  // Allows an arena more threads than the machine has cores, for tests and for users who want that. The lowest of
  // several live limits applies to all arenas, so an arena that needs no limit sets none.
  std::optional<oneapi::tbb::global_control> control;
  mutable oneapi::tbb::task_arena arena;
  // Number of threads inside enqueue(). They still use the arena after the work that they enqueued may have finished.
  std::atomic<int> enqueuing{0};
};

Executor::Executor(int threads, const CancelToken* cancel)
    : threads_(is_forked_after_threads() ? 1
               : threads > 0             ? threads
                                         : usable_cores()),
      cancel_(cancel) {
  if (is_forked_after_threads()) return;
  static std::once_flag once;
  std::call_once(once,
                 [] { ::pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }); });
  arena_ = {new Arena(threads_), [](Arena* arena) {
              // In a forked child the arena's threads do not exist, and its destructor would wait for them.
              if (is_forked_after_threads()) return;
              while (arena->enqueuing > 0) std::this_thread::yield();
              delete arena;
            }};
}

Executor::Executor(const Executor& threads, const CancelToken* cancel)
    : threads_(threads.threads_), cancel_(cancel), arena_(threads.arena_) {}

void Executor::parallel_for(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) const {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  if (threads_ == 1 || count <= grain || is_forked_after_threads()) return run_serially(count, grain, *this, body);
  const std::size_t parts = (count + grain - 1) / grain;
  arena_->arena.execute([&] {
    oneapi::tbb::parallel_for(
        oneapi::tbb::blocked_range<std::size_t>(0, parts, 1),
        [&](const oneapi::tbb::blocked_range<std::size_t>& range) {
          for (std::size_t part = range.begin(); part != range.end() && !cancelled(); ++part) {
            body(part * grain, std::min((part + 1) * grain, count));
          }
        },
        oneapi::tbb::simple_partitioner());
  });
}

void Executor::run(const std::function<void()>& work) const {
  if (is_forked_after_threads()) return work();
  arena_->arena.execute(work);
}

void Executor::enqueue(std::function<void()> work) const {
  if (is_forked_after_threads()) return work();
  struct EnqueueGuard {
    explicit EnqueueGuard(std::atomic<int>& count) : enqueuing(count) { ++enqueuing; }
    ~EnqueueGuard() { --enqueuing; }
    std::atomic<int>& enqueuing;
  };
  const EnqueueGuard way(arena_->enqueuing);
  arena_->arena.enqueue(std::move(work));
}

#endif

Executor::~Executor() = default;

void Executor::throw_if_cancelled() const {
  if (cancelled()) throw Failure(interrupted());
}
void Executor::throw_if_cancelled(const char* remaining_state) const {
  if (cancelled()) throw Failure(interrupted(remaining_state));
}

int usable_cores() {
  static const int cores = describe_machine().usable_cores;
  return cores;
}

}  // namespace millrace
