#include "src/kernels/hamming/hamming_rates.h"

#include <algorithm>

#include "src/base/stopwatch.h"
#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::hamming {
namespace {

// Seconds of a run, so many that the overhead of a launch is a small part.
constexpr double kEnoughS = 0.25;

// Returns the amount of one run over its seconds, with as many codes as it needs to last long enough.
template <typename Code>
double rate(Algorithm algorithm, int radius, const Engines& engines) {
  for (std::size_t count = 1 << 14;; count *= 2) {
    const std::vector<Code> codes = test_vectors::random_codes<Code>(count, 4);
    const std::span<const Code> all(codes);
    Budget budget(Bytes{4096 + 512 * count});
    const Options options{.radius = radius, .algorithm = algorithm};
    const JoinProblem problem = make_problem(JoinSides<Code>{all, all, true, nullptr}, options, engines.executor);
    const JoinPlan plan = choose_plan(problem);
    PairCounter counter({}, {});
    const auto run = [&] {
      const Stopwatch watch;
      find_pairs<Code>({all, all, true, nullptr}, nullptr, options, engines, budget, counter);
      return watch.seconds();
    };
    // A driver may compile in the first run.
    run();
    const double seconds = run();
    const auto n = static_cast<double>(count);
    const double amount = plan.algorithm == Algorithm::brute ? n * n / 2 : plan.seconds * problem.threads;
    if (seconds > kEnoughS || count >= std::size_t{1} << 24) return amount / seconds;
  }
}

}  // namespace

std::vector<MeasuredRate> measure_rates(Accelerator& accelerator, const Executor& executor) {
  std::vector<MeasuredRate> out;
  const Engines cpu(executor), device(executor, &accelerator);
  const auto measure = [&]<typename Code>(Algorithm algorithm, int radius, const std::string& unit, Code) {
    const std::uint64_t before = accelerator.counts().batches;
    const double on_device = rate<Code>(algorithm, radius, device);
    // Work that fell back to the CPU gives no rate of the device.
    if (accelerator.is_excluded() || accelerator.counts().batches == before || accelerator.counts().fell_back > 0)
      return;
    out.push_back({operation_of(8 * static_cast<int>(sizeof(Code)), algorithm), unit, on_device,
                   rate<Code>(algorithm, radius, cpu)});
  };
  measure(Algorithm::brute, 5, "pairs/s", std::uint64_t{});
  measure(Algorithm::brute, 90, "pairs/s", Code256{});
  measure(Algorithm::index, 5, "CPU threads", std::uint64_t{});
  measure(Algorithm::index, 20, "CPU threads", Code256{});
  return out;
}

}  // namespace millrace::hamming
