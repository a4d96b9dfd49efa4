// A race on purpose: two items of a parallel stage add to one plain counter. ThreadSanitizer must report it, which
// proves that it sees through our pipeline; without it, the program is right by luck and exits 0.
#include <cstdio>

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
  auto stages =
      chain::source<int>("count",
                         [&]() -> std::optional<int> { return next < 20000 ? std::optional(next++) : std::nullopt; }) |
      chain::parallel<int, int>("race",
                                [&](int i, Span&) {
                                  counter += i;
                                  return i;
                                }) |
      chain::sink<int>("end", [](int, Span&) {});
  chain::run(stages, context, {16});
  std::printf("%ld\n", counter);
  return 0;
}
