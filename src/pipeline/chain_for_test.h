// Helpers that tests of chains share.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "src/pipeline/chain.h"

namespace millrace::for_test {

struct JobSetup {
  explicit JobSetup(int threads, Bytes limit = 64_MiB) : executor(threads, &cancel), budget(limit) {}
  CancelToken cancel;
  Executor executor;
  Trace trace{false};
  Budget budget;
  RunContext context{executor, cancel, trace, budget};
};

inline auto numbers(int count, std::atomic<int>* given = nullptr) {
  return chain::source<int>("numbers", [count, given, next = 0]() mutable -> std::optional<int> {
    if (next == count) return std::nullopt;
    if (given != nullptr) ++*given;
    return next++;
  });
}

// Takes a different time for each item, so that items overtake each other.
inline int busy(int item) {
  for (int i = 0; i < item * 7919 % 64; ++i) std::this_thread::yield();
  return item * 3;
}

}  // namespace millrace::for_test
