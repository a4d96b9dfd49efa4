#include <algorithm>
#include <atomic>

#include "src/kernels/hamming/hamming_device.h"
#include "src/kernels/hamming/hamming_find.h"
#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {
namespace {

std::uint64_t pairs_between(std::span<const std::uint32_t> rows, const Buffer<HammingPair>& pairs,
                            const Executor& executor) {
  if (rows.empty()) return pairs.size();
  std::atomic<std::uint64_t> between{0};
  executor.parallel_for(pairs.size(), std::size_t{1} << 16, [&](std::size_t from, std::size_t to) {
    std::uint64_t sum = 0;
    for (std::size_t at = from; at < to; ++at) sum += count_row_pairs(pairs[at], rows, rows);
    between += sum;
  });
  return between;
}

template <typename Code>
JoinResult join_codes(std::span<const Code> codes, const Options& options, const Engines& engines, Budget& budget) {
  const Executor& executor = engines.executor;
  CollapsedCodes<Code> collapsed = collapse(codes, executor, budget);
  JoinResult joined;
  joined.nodes = std::move(collapsed.nodes);
  const std::span<const Code> nodes(collapsed.codes.data(), joined.nodes.count);
  PairCollector collector(budget);
  JoinMethod answer =
      find_pairs<Code>({nodes, nodes, true, nullptr}, collapsed.codes.data(), options, engines, budget, collector);
  joined.pairs = collector.sorted(nodes.size(), nodes.size(), executor);
  joined.collapsed = joined.pairs.list.size();
  joined.used = answer.used;
  joined.why = std::move(answer.why);
  const NodeSizes sizes(joined.nodes, budget);
  joined.expanded = sizes.inside + pairs_between(sizes.rows.span(), joined.pairs.list, executor);
  return joined;
}

template <typename Code>
JoinResult count_codes(std::span<const Code> codes, const Options& options, const Engines& engines, Budget& budget) {
  const Executor& executor = engines.executor;
  CollapsedCodes<Code> collapsed = collapse(codes, executor, budget);
  JoinResult joined;
  joined.nodes = std::move(collapsed.nodes);
  const std::span<const Code> nodes(collapsed.codes.data(), joined.nodes.count);
  const NodeSizes sizes(joined.nodes, budget);
  PairCounter counter(sizes.rows.span(), sizes.rows.span());
  JoinMethod answer =
      find_pairs<Code>({nodes, nodes, true, nullptr}, collapsed.codes.data(), options, engines, budget, counter);
  joined.collapsed = counter.pairs();
  joined.expanded = sizes.inside + counter.pairs_of_rows();
  joined.used = answer.used;
  joined.why = std::move(answer.why);
  return joined;
}

// Seconds of one thread for each pair that is found, beside the comparisons: passing it on, and sorting it where it is
// kept. Measured with 51.5 million pairs of 200,000 codes, and with 5 thousand million of 100,000.
constexpr double kCountedSeconds = 15e-9, kCollectedSeconds = 60e-9;

template <typename Code>
JoinEstimate estimate_codes(std::span<const Code> codes, const Options& options, bool collects, const Engines& engines,
                            Budget& budget) {
  const Executor& executor = engines.executor;
  // Comparisons enough for a fraction of a second, and nodes enough that some of them have neighbours.
  constexpr double kComparisons = 2e9, kFound = 2e7, kMaxSample = 65536;
  constexpr std::size_t kMinSample = 64;
  const CollapsedCodes<Code> collapsed = collapse(codes, executor, budget);
  const std::span<const Code> nodes(collapsed.codes.data(), collapsed.nodes.count);
  const NodeSizes sizes(collapsed.nodes, budget);
  JoinEstimate out;
  out.nodes = nodes.size();
  const JoinProblem problem = make_problem(JoinSides<Code>{nodes, nodes, true, nullptr}, options, executor);
  const JoinPlan plan = choose_plan(problem);
  out.seconds = plan.seconds;
  out.why = plan.why;
  if (engines.accelerator != nullptr) {
    const Route route = choose_route(plan, problem, *engines.accelerator);
    out.where = route.why;
    if (route.on_device) {
      out.seconds = route.device_s;
      out.why = plan.what;
    }
  }
  if (nodes.empty()) return out;
  Options brute;
  brute.radius = options.radius;
  brute.algorithm = Algorithm::brute;
  // Counts the pairs of `sampled` nodes that are spread evenly; returns the number of pairs per node.
  const auto measure_sample = [&](std::size_t sampled) {
    std::vector<Code> sample(sampled);
    std::vector<std::uint32_t> rows(sizes.rows.size() == 0 ? 0 : sampled);
    std::uint64_t own_rows = sampled;  // pairs of rows that a sampled node has with itself
    for (std::size_t k = 0; k < sampled; ++k) {
      const std::size_t node = k * nodes.size() / sampled;
      sample[k] = nodes[node];
      if (rows.empty()) continue;
      rows[k] = sizes.rows[node];
      own_rows += std::uint64_t{rows[k]} * rows[k] - 1;
    }
    PairCounter counter(rows, sizes.rows.span());
    find_pairs<Code>({sample, nodes, false, nullptr}, nullptr, brute, executor, budget, counter);
    // Every node is found with itself, and every pair from both of its ends.
    const double share = static_cast<double>(nodes.size()) / static_cast<double>(sampled) / 2;
    out.collapsed = static_cast<double>(counter.pairs() - sampled) * share;
    out.expanded = static_cast<double>(sizes.inside) + static_cast<double>(counter.pairs_of_rows() - own_rows) * share;
    return static_cast<double>(counter.pairs()) / static_cast<double>(sampled);
  };
  const std::size_t few = std::min(nodes.size(), kMinSample);
  const double met = measure_sample(few);
  const double enough =
      std::clamp(std::min(kComparisons / static_cast<double>(nodes.size()), kFound / met), 1.0, kMaxSample);
  const std::size_t more = std::min(nodes.size(), static_cast<std::size_t>(enough));
  if (more > few) measure_sample(more);
  if (out.seconds)
    *out.seconds += out.collapsed * (collects ? kCollectedSeconds : kCountedSeconds) / executor.threads();
  out.memory = {static_cast<std::uint64_t>(out.collapsed * 2 * sizeof(HammingPair))};
  return out;
}

template <typename Code>
CodeSearchResult search_codes(std::span<const Code> queries, std::span<const Code> base, const Options& options,
                              const Engines& engines, Budget& budget, const PairFilter& also) {
  if (queries.size() >= 0xFFFFFFFFu || base.size() >= 0xFFFFFFFFu) {
    throw Failure(ErrorCode::too_large, "too many codes (the limit is 4,294,967,294)", "codes", "split the collection");
  }
  PairCollector collector(budget);
  JoinMethod answer =
      find_pairs<Code>({queries, base, false, also ? &also : nullptr}, nullptr, options, engines, budget, collector);
  return {collector.sorted(queries.size(), base.size(), engines.executor), answer.used, std::move(answer.why)};
}

}  // namespace

const char* name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
    case Algorithm::brute:
      return "brute";
    case Algorithm::index:
      return "index";
  }
  return "auto";
}

JoinResult self_join(std::span<const std::uint64_t> codes, const Options& options, const Engines& engines,
                     Budget& budget) {
  return join_codes(codes, options, engines, budget);
}
JoinResult self_join(std::span<const Code256> codes, const Options& options, const Engines& engines, Budget& budget) {
  return join_codes(codes, options, engines, budget);
}
JoinResult count(std::span<const std::uint64_t> codes, const Options& options, const Engines& engines, Budget& budget) {
  return count_codes(codes, options, engines, budget);
}
JoinResult count(std::span<const Code256> codes, const Options& options, const Engines& engines, Budget& budget) {
  return count_codes(codes, options, engines, budget);
}
JoinEstimate estimate(std::span<const std::uint64_t> codes, const Options& options, bool collects,
                      const Engines& engines, Budget& budget) {
  return estimate_codes(codes, options, collects, engines, budget);
}
JoinEstimate estimate(std::span<const Code256> codes, const Options& options, bool collects, const Engines& engines,
                      Budget& budget) {
  return estimate_codes(codes, options, collects, engines, budget);
}
CodeSearchResult search(std::span<const std::uint64_t> queries, std::span<const std::uint64_t> base,
                        const Options& options, const Engines& engines, Budget& budget, const PairFilter& also) {
  return search_codes(queries, base, options, engines, budget, also);
}
CodeSearchResult search(std::span<const Code256> queries, std::span<const Code256> base, const Options& options,
                        const Engines& engines, Budget& budget, const PairFilter& also) {
  return search_codes(queries, base, options, engines, budget, also);
}

}  // namespace millrace::hamming
