#include "src/kernels/hamming/hamming_device.h"

#include <fmt/format.h>

#include "src/kernels/hamming/hamming_brute_device.h"
#include "src/kernels/hamming/hamming_index_device.h"
#include "src/kernels/hamming/hamming_known.h"

namespace millrace::hamming {
std::string operation_of(int bits, Algorithm algorithm) {
  return fmt::format("hamming.{}{}", algorithm == Algorithm::brute ? "brute" : "index", bits);
}

Route route_of(const JoinPlan& plan, const Problem& problem, const Accelerator& accelerator) {
  Work work;
  work.source = &bodies::hamming();
  work.operation = operation_of(problem.bits, plan.algorithm);
  work.cpu_s = plan.seconds;
  const auto a = static_cast<double>(problem.a), b = static_cast<double>(problem.b);
  // The amount of an index is the seconds that the model expects of one thread.
  work.amount = plan.algorithm == Algorithm::brute ? a * b * (problem.self ? 0.5 : 1) : plan.seconds * problem.threads;
  work.bytes_up = (a + (problem.self ? 0 : b)) * problem.bits / 8;
  return choose_side(accelerator, work);
}

template <typename Code>
std::optional<Answer> find_on_device(const Sides<Code>& sides, const JoinPlan& plan, const Options& options,
                                     const Engines& engines, Budget& budget, PairTaker& taker) {
  Accelerator& accelerator = *engines.accelerator;
  if (!accelerator.ready(bodies::hamming(), kEntries, gives_known_answers)) return std::nullopt;
  const std::string where = ", on " + name_of(accelerator.device());
  const Executor& executor = engines.executor;
  if (plan.algorithm == Algorithm::index && !too_alike(sides, plan)) {
    IndexOnDevice<Code> index(sides, plan, options, executor, accelerator, budget, taker);
    if (!index.run()) return std::nullopt;
    return Answer{Algorithm::index, plan.what + where};
  }
  JoinPlan brute = plan;
  if (plan.algorithm == Algorithm::index) {
    Problem problem = problem_of(sides, options, executor);
    problem.wish = Algorithm::brute;
    brute = choose_plan(problem);
    brute.what += ", because the codes are too alike for " + plan.what;
  }
  BruteOnDevice<Code> all(sides, brute, options, executor, accelerator, budget, taker);
  if (!all.run()) return std::nullopt;
  return Answer{Algorithm::brute, brute.what + where};
}

template std::optional<Answer> find_on_device(const Sides<std::uint64_t>&, const JoinPlan&, const Options&,
                                              const Engines&, Budget&, PairTaker&);
template std::optional<Answer> find_on_device(const Sides<Code256>&, const JoinPlan&, const Options&, const Engines&,
                                              Budget&, PairTaker&);

}  // namespace millrace::hamming
