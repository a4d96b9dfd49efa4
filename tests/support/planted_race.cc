// A race on purpose: two items of a parallel stage add to one plain counter. ThreadSanitizer must report it, which
// proves that it sees through our pipeline; without it, the program is right by luck and exits 0.
#include <atomic>
#include <cstdio>
#include <thread>

#include "src/pipeline/chain.h"

using namespace millrace;

int main() {
  const Executor executor(4);
  const CancelToken cancel;
  Trace trace;
  Budget budget(1_MiB);
  RunContext context{executor, cancel, trace, budget};
  int next = 0;
  long counter = 0;
  // Between two steps a thread passes the pipeline's lock, which orders what it did before and after: a race is between
  // items that are inside at the same time. The first two wait for each other, by what orders nothing.
  std::atomic<int> inside{0};
  const auto meet = [&] {
    inside.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < 10'000'000 && inside.load(std::memory_order_relaxed) < 2; ++i) std::this_thread::yield();
  };
  auto stages =
      chain::source<int>("count",
                         [&]() -> std::optional<int> { return next < 20000 ? std::optional(next++) : std::nullopt; }) |
      chain::parallel<int, int>("race",
                                [&](int i, Span&) {
                                  if (i < 2) meet();
                                  counter += i;
                                  return i;
                                }) |
      chain::sink<int>("end", [](int, Span&) {});
  chain::run(stages, context, chain::MemoryCost::fixed({16}));
  std::printf("%ld\n", counter);
  return 0;
}
