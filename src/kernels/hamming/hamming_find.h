// Input: codes on two sides, or the same codes on both, and a receiver of pairs.
// Output: every pair within range, given to the receiver once, in any order.
// Never: holds a pair longer than a task does.
#pragma once

#include <span>
#include <string>

#include "src/kernels/hamming/hamming_cost.h"
#include "src/kernels/hamming/hamming_pairs.h"

namespace millrace::hamming {

template <typename Code>
struct JoinSides {
  std::span<const Code> a, b;
  bool self = true;
  const PairFilter* also = nullptr;  // null: every pair is accepted
};

struct JoinMethod {
  Algorithm used;
  std::string why;
};

// Returns the problem that the cost model solves for these sides.
template <typename Code>
JoinProblem make_problem(const JoinSides<Code>& sides, const Options& options, const Executor& executor);

template <typename Code>
struct BucketPair;

// Gives every pair within range to `taker`. `own` is where the codes may be permuted in place; null when they are the
// caller's. Buckets use the memory in `kept`, where that is given, and leave it there.
template <typename Code>
JoinMethod find_pairs(JoinSides<Code> sides, Code* own, const Options& options, const Engines& engines, Budget& budget,
                      PairTaker& taker, BucketPair<Code>* kept = nullptr);

extern template JoinProblem make_problem(const JoinSides<std::uint64_t>&, const Options&, const Executor&);
extern template JoinProblem make_problem(const JoinSides<Code256>&, const Options&, const Executor&);
extern template JoinMethod find_pairs(JoinSides<std::uint64_t>, std::uint64_t*, const Options&, const Engines&, Budget&,
                                      PairTaker&, BucketPair<std::uint64_t>*);
extern template JoinMethod find_pairs(JoinSides<Code256>, Code256*, const Options&, const Engines&, Budget&, PairTaker&,
                                      BucketPair<Code256>*);

}  // namespace millrace::hamming
