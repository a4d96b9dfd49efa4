#include "src/kernels/hamming/hamming_device.h"

#include <fmt/format.h>

#include "src/kernels/hamming/hamming_brute_device.h"
#include "src/kernels/hamming/hamming_index_device.h"
#include "src/kernels/hamming/hamming_test_vectors.h"

namespace millrace::hamming {
std::string operation_of(int bits, Algorithm algorithm) {
  return fmt::format("hamming.{}{}", algorithm == Algorithm::brute ? "brute" : "index", bits);
}

Route choose_route(const JoinPlan& plan, const JoinProblem& problem, const Accelerator& accelerator) {
  DeviceWork work;
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
std::optional<JoinMethod> find_on_device(const JoinSides<Code>& sides, const JoinPlan& plan, const Options& options,
                                         const Engines& engines, Budget& budget, PairTaker& taker) {
  Accelerator& accelerator = *engines.accelerator;
  if (!accelerator.prepare_kernels(bodies::hamming(), kEntries, gives_known_answers)) return std::nullopt;
  const std::string where = ", on " + name_of(accelerator.device());
  const Executor& executor = engines.executor;
  if (plan.algorithm == Algorithm::index && !is_index_too_dense(sides, plan)) {
    DeviceIndex<Code> index(sides, plan, options, executor, accelerator, budget, taker);
    if (!index.run()) return std::nullopt;
    return JoinMethod{Algorithm::index, plan.what + where};
  }
  JoinPlan brute = plan;
  if (plan.algorithm == Algorithm::index) {
    JoinProblem problem = make_problem(sides, options, executor);
    problem.wish = Algorithm::brute;
    brute = choose_plan(problem);
    brute.what += ", because the codes are too similar for " + plan.what;
  }
  DeviceBruteForce<Code> all(sides, brute, options, executor, accelerator, budget, taker);
  if (!all.run()) return std::nullopt;
  return JoinMethod{Algorithm::brute, brute.what + where};
}

template std::optional<JoinMethod> find_on_device(const JoinSides<std::uint64_t>&, const JoinPlan&, const Options&,
                                                  const Engines&, Budget&, PairTaker&);
template std::optional<JoinMethod> find_on_device(const JoinSides<Code256>&, const JoinPlan&, const Options&,
                                                  const Engines&, Budget&, PairTaker&);

}  // namespace millrace::hamming
