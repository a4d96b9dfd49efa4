#include "src/kernels/hamming/hamming_find.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/sizes.h"
#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/hamming/hamming_index_part.h"
#include "src/kernels/hamming/hamming_nodes.h"
#include "src/kernels/hamming/hamming_permute.h"

namespace millrace::hamming {
namespace {

template <typename Code>
class Join {
 public:
  Join(const JoinSides<Code>& sides, const Options& options, const Executor& executor, PairTaker& taker,
       BucketPair<Code>& buckets)
      : sides_(sides),
        options_(options),
        executor_(executor),
        taker_(taker),
        part_(sides, options.radius, executor, &buckets) {}

  // Runs every part of the plan; returns false when the parts turn out to compare more pairs than brute force.
  bool run(const JoinPlan& plan, BucketLayout layout) {
    const double all =
        static_cast<double>(sides_.a.size()) * static_cast<double>(sides_.b.size()) * (sides_.self ? 0.5 : 1);
    double compared = 0;
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
      part_.fill(plan, p, layout);
      throw_if_cancelled(executor_);
      // A second condition may count its calls: it is called once for each pair, so brute force cannot start over from
      // here.
      if (plan.algorithm == Algorithm::index && sides_.also == nullptr) {
        compared += part_.candidates();
        if (compared > all) {
          taker_.clear();
          return false;
        }
      }
      const std::size_t n = sides_.a.size();
      part_.match({0, n}, taker_, [&](std::size_t more) {
        if (options_.progress) options_.progress(more, n * plan.parts.size());
      });
    }
    return true;
  }

 private:
  const JoinSides<Code> sides_;
  const Options options_;
  const Executor& executor_;
  PairTaker& taker_;
  IndexPartJoin<Code> part_;
};

}  // namespace

template <typename Code>
JoinProblem make_problem(const JoinSides<Code>& sides, const Options& options, const Executor& executor) {
  if (options.radius < 0) throw Failure(ErrorCode::usage, "the radius must not be negative", "radius");
  JoinProblem problem;
  problem.bits = 8 * static_cast<int>(sizeof(Code));
  problem.a = sides.a.size();
  problem.b = sides.b.size();
  problem.self = sides.self;
  problem.radius = std::min(options.radius, problem.bits);
  problem.threads = executor.threads();
  problem.wish = options.algorithm;
  problem.agree = measure_bit_agreement(sides.b);
  return problem;
}

template <typename Code>
JoinMethod find_pairs(JoinSides<Code> sides, Code* own, const Options& options, const Engines& engines, Budget& budget,
                      PairTaker& taker, BucketPair<Code>* kept) {
  const Executor& executor = engines.executor;
  JoinProblem problem = make_problem(sides, options, executor);
  JoinPlan plan = choose_plan(problem);

  Buffer<Code> copies;
  Reservation copies_memory;
  if (plan.permuted) {
    if (own == nullptr) {
      copies_memory = budget.reserve({(sides.a.size() + sides.b.size()) * sizeof(Code)}, "codes with permuted bits");
      allocate(copies, sides.a.size() + sides.b.size());
      permute_bits(sides.a, copies.data(), plan, executor);
      permute_bits(sides.b, copies.data() + sides.a.size(), plan, executor);
      sides.a = {copies.data(), sides.a.size()};
      sides.b = {copies.data() + sides.a.size(), sides.b.size()};
    } else {
      permute_bits(sides.a, own, plan, executor);
    }
  }

  if (plan.algorithm == Algorithm::index && sides.also != nullptr && is_index_too_dense(sides, plan)) {
    problem.wish = Algorithm::brute;
    const std::string tried = plan.what;
    plan = choose_plan(problem);
    for (std::string* words : {&plan.what, &plan.why}) *words += ", because the codes are too similar for " + tried;
  }

  if (engines.accelerator != nullptr && choose_route(plan, problem, *engines.accelerator).on_device) {
    if (auto answer = find_on_device(sides, plan, options, engines, budget, taker)) return *answer;
  }

  BucketPair<Code> own_buckets;
  BucketPair<Code>& buckets = kept != nullptr ? *kept : own_buckets;
  BucketLayout layout = BucketLayout::roomy;
  const auto bytes = [&]() -> Bytes {
    return {buckets.a.bytes_with(plan, sides.a.size(), layout) +
            (sides.self ? buckets.b.bytes_with_scratch(0) : buckets.b.bytes_with(plan, sides.b.size(), layout))};
  };
  if (!buckets.try_reserve_for(budget, bytes)) {
    layout = BucketLayout::lean;
    buckets.reserve_for(budget, bytes);
    plan.why += ", in the layout that needs less memory";
  }
  Join<Code> join(sides, options, executor, taker, buckets);
  if (!join.run(plan, layout)) {
    problem.wish = Algorithm::brute;
    const std::string tried = plan.why;
    plan = choose_plan(problem);
    plan.why += fmt::format(", because the codes are too similar for {}", tried);
    buckets.reserve_for(budget, bytes);
    join.run(plan, layout);
  }
  return {plan.algorithm, plan.why};
}

template JoinProblem make_problem(const JoinSides<std::uint64_t>&, const Options&, const Executor&);
template JoinProblem make_problem(const JoinSides<Code256>&, const Options&, const Executor&);
template JoinMethod find_pairs(JoinSides<std::uint64_t>, std::uint64_t*, const Options&, const Engines&, Budget&,
                               PairTaker&, BucketPair<std::uint64_t>*);
template JoinMethod find_pairs(JoinSides<Code256>, Code256*, const Options&, const Engines&, Budget&, PairTaker&,
                               BucketPair<Code256>*);

}  // namespace millrace::hamming
