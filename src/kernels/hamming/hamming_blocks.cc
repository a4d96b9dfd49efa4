#include "src/kernels/hamming/hamming_blocks.h"

#include <algorithm>

#include "src/kernels/hamming/hamming_buckets.h"
#include "src/kernels/hamming/hamming_find.h"
#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {
namespace {

// Words of 32 bits that reading and collapsing so many rows borrows from the buckets. Side a lends room for hashes;
// side b for rows, the row of each hash, and first rows.
template <typename Code>
struct Borrowed {
  explicit Borrowed(std::uint64_t rows) : a(2 * rows), b((sizeof(Code) / 4 + 2) * rows) {}
  std::size_t a, b;
};

}  // namespace

template <typename Code>
struct BlockPair<Code>::Inside {
  Engines engines;
  Budget& budget;
  CollapsedCodes<Code> first, second;
  BucketPair<Code> buckets;

  void set(CollapsedCodes<Code>& side, std::uint64_t count, const Read& read) {
    if (count >= 0xFFFFFFFFu) throw Failure(ErrorCode::too_large, "over 4,294,967,294 codes are no block", "codes", "");
    const auto rows = static_cast<std::size_t>(count);
    const Borrowed<Code> words(rows);
    buckets.reserve_for(budget, [&]() -> Bytes {
      return {buckets.a.bytes_with_scratch(words.a) + buckets.b.bytes_with_scratch(words.b)};
    });
    if (side.codes.capacity() < rows) {
      side = {};
      side.nodes.memory = budget.reserve({4 * count}, "nodes of codes");
      side.memory = budget.reserve({sizeof(Code) * count}, "codes of nodes");
      allocate(side.nodes.of_row, rows);
      allocate(side.codes, rows);
    }
    const std::span<std::uint32_t> a = buckets.a.scratch(words.a), b = buckets.b.scratch(words.b);
    const std::span<Code> codes(reinterpret_cast<Code*>(b.data()), rows);
    read(codes);
    std::uint32_t* const behind = b.data() + sizeof(Code) / 4 * rows;
    collapse_into(std::span<const Code>(codes), engines.executor,
                  {{reinterpret_cast<std::uint64_t*>(a.data()), rows}, {behind, rows}, {behind + rows, rows}}, side);
  }

  BlockJoinResult join(bool self, const Options& options, const PairSink& sink) {
    const CollapsedCodes<Code>& other = self ? first : second;
    const JoinSides<Code> sides{
        {first.codes.data(), first.nodes.count}, {other.codes.data(), other.nodes.count}, self, nullptr};
    BlockJoinResult out;
    const auto find = [&](PairTaker& taker) {
      JoinMethod answer = find_pairs<Code>(sides, nullptr, options, engines, budget, taker, &buckets);
      out.used = answer.used;
      out.why = std::move(answer.why);
    };
    if (!sink) {
      const NodeSizes of_i(first.nodes, budget);
      const NodeSizes of_j = self ? NodeSizes() : NodeSizes(other.nodes, budget);
      PairCounter counter(of_i.rows.span(), self ? of_i.rows.span() : of_j.rows.span());
      find(counter);
      out.pairs = counter.pairs_of_rows() + (self ? of_i.inside : 0);
      return out;
    }
    PairCollector collector(budget);
    find(collector);
    HammingPairs pairs = collector.sorted(sides.a.size(), sides.b.size(), engines.executor);
    const std::size_t numbers_of_a = first.nodes.count, numbers_of_b = self ? 0 : other.nodes.count;
    buckets.reserve_for(budget, [&]() -> Bytes {
      return {buckets.a.bytes_with_scratch(numbers_of_a) + buckets.b.bytes_with_scratch(numbers_of_b)};
    });
    expand_few(first.nodes, self ? nullptr : &other.nodes, std::move(pairs), buckets.a.scratch(numbers_of_a),
               buckets.b.scratch(numbers_of_b), engines.executor, budget, [&](std::span<const HammingPair> rows) {
                 out.pairs += rows.size();
                 sink(rows);
               });
    return out;
  }
};

template <typename Code>
BlockPair<Code>::BlockPair(const Engines& engines, Budget& budget)
    : inside_(std::make_unique<Inside>(Inside{engines, budget, {}, {}, {}})) {}
template <typename Code>
BlockPair<Code>::~BlockPair() = default;

template <typename Code>
void BlockPair<Code>::set_first(std::uint64_t rows, const Read& read) {
  inside_->set(inside_->first, rows, read);
}
template <typename Code>
void BlockPair<Code>::set_second(std::uint64_t rows, const Read& read) {
  inside_->set(inside_->second, rows, read);
}
template <typename Code>
BlockJoinResult BlockPair<Code>::join_first(const Options& options, const PairSink& sink) {
  return inside_->join(true, options, sink);
}
template <typename Code>
BlockJoinResult BlockPair<Code>::join_both(const Options& options, const PairSink& sink) {
  return inside_->join(false, options, sink);
}

template class BlockPair<std::uint64_t>;
template class BlockPair<Code256>;

namespace {

template <typename Code>
BlockCost cost_of(std::span<const Code> sample, std::uint64_t rows, const Options& options, const Executor& executor) {
  JoinProblem problem = make_problem(JoinSides<Code>{sample, sample, false, nullptr}, options, executor);
  problem.a = problem.b = rows;
  const JoinPlan both = choose_plan(problem);
  problem.self = true;
  const JoinPlan alone = choose_plan(problem);
  const Borrowed<Code> words(rows);
  // A side takes its buckets, or borrowed words, whichever is more; its columns stay beside borrowed words.
  const auto side = [&](std::size_t borrowed) {
    const Buckets<Code> none;
    const std::uint64_t lean = none.bytes_with(both, rows, BucketLayout::lean),
                        roomy = none.bytes_with(both, rows, BucketLayout::roomy);
    return std::max(roomy, lean + 4 * borrowed);
  };
  const std::uint64_t permuted = both.permuted ? 2 * sizeof(Code) * rows : 0;
  BlockCost out;
  out.first_seconds = alone.seconds;
  out.both_seconds = both.seconds;
  // Nodes and codes of both blocks, and counters for nodes of several rows.
  out.memory = {2 * (sizeof(Code) + 4) * rows + side(words.a) + side(words.b) + permuted + 8 * rows};
  return out;
}

}  // namespace

BlockCost block_cost(std::span<const std::uint64_t> sample, std::uint64_t rows, const Options& options,
                     const Executor& executor) {
  return cost_of(sample, rows, options, executor);
}
BlockCost block_cost(std::span<const Code256> sample, std::uint64_t rows, const Options& options,
                     const Executor& executor) {
  return cost_of(sample, rows, options, executor);
}

}  // namespace millrace::hamming
