// Input: codes on two sides, and one part of a plan.
// Output: the pairs that this part finds and no earlier part does, of all codes or of a range of them.
// Never: decides which parts there are.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/kernels/hamming/hamming_buckets.h"
#include "src/kernels/hamming/hamming_find.h"

namespace millrace::hamming {

// Positions of side a in the part's order. For brute force, whose order is that of the rows, side b may be a range as
// well. It is the one that [begin, end) lies in, or one behind it.
struct IndexPartRange {
  std::size_t begin = 0, end = 0;
  std::size_t b_begin = 0, b_end = 0;  // b_end is 0: all of side b
};

// Returns the keys of side b that a key of side a is compared with, as differences; without 0 where both sides are one.
std::vector<std::uint32_t> list_part_flips(const IndexPart& part, bool self);

// True if the parts of an index compare more pairs than brute force does. It is judged by how often two codes of a
// sample have the same key, before any pair is found.
template <typename Code>
bool is_index_too_dense(const JoinSides<Code>& sides, const JoinPlan& plan);

extern template bool is_index_too_dense(const JoinSides<std::uint64_t>&, const JoinPlan&);
extern template bool is_index_too_dense(const JoinSides<Code256>&, const JoinPlan&);

template <typename Code>
class IndexPartJoin {
 public:
  // Uses the buckets in `kept`, which the caller owns, where that is given.
  IndexPartJoin(const JoinSides<Code>& sides, int radius, const Executor& executor, BucketPair<Code>* kept = nullptr)
      : sides_(sides), radius_(radius), executor_(executor), buckets_(kept != nullptr ? *kept : own_) {}
  IndexPartJoin(const IndexPartJoin&) = delete;
  IndexPartJoin& operator=(const IndexPartJoin&) = delete;

  // Puts both sides into the order of this part. The plan outlives the calls below.
  void fill(const JoinPlan& plan, std::size_t part, BucketLayout layout);
  // Returns the number of pairs of codes that the part compares, exactly where that is cheap to count, else an upper
  // bound.
  double candidates() const;
  // Finds the pairs of a range; `done` gets the number of positions that were finished since its last call.
  void match(const IndexPartRange& range, PairTaker& taker, const std::function<void(std::size_t)>& done = {}) const;
  // Positions where the buckets of side a begin, and where the last ends.
  const Buffer<std::uint32_t>& starts() const { return buckets_.a.starts(); }

 private:
  const Buckets<Code>& b() const { return sides_.self ? buckets_.a : buckets_.b; }

  const JoinSides<Code> sides_;
  const int radius_;
  const Executor& executor_;
  const JoinPlan* plan_ = nullptr;
  std::size_t part_ = 0;
  BucketPair<Code> own_;
  BucketPair<Code>& buckets_;
  std::vector<std::uint32_t> flips_;
};

extern template class IndexPartJoin<std::uint64_t>;
extern template class IndexPartJoin<Code256>;

}  // namespace millrace::hamming
