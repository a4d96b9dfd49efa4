// Input: codes on two sides, and one part of a plan.
// Output: the pairs that this part brings together and no earlier one, of all codes or of a range of them.
// Never: decides which parts there are.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/kernels/hamming/hamming_buckets.h"
#include "src/kernels/hamming/hamming_find.h"

namespace millrace::hamming {

// Places of side a in the part's order. For brute force, whose order is the rows', side b may be a range as well: the
// one that [begin, end) lies in, or one behind it.
struct PartRange {
  std::size_t begin = 0, end = 0;
  std::size_t b_begin = 0, b_end = 0;  // 0: all of it
};

// Keys of side b that a key of side a meets, as differences; without 0 where both sides are one.
std::vector<std::uint32_t> flips_for(const Part& part, bool self);

// Whether the parts of an index compare more pairs than brute force does, told from how often two of some codes have
// the same key: before any pair is brought.
template <typename Code>
bool too_alike(const Sides<Code>& sides, const JoinPlan& plan);

extern template bool too_alike(const Sides<std::uint64_t>&, const JoinPlan&);
extern template bool too_alike(const Sides<Code256>&, const JoinPlan&);

template <typename Code>
class PartJoin {
 public:
  // Into `kept`, where that is given, which somebody else keeps.
  PartJoin(const Sides<Code>& sides, int radius, const Executor& executor, BucketPair<Code>* kept = nullptr)
      : sides_(sides), radius_(radius), executor_(executor), buckets_(kept != nullptr ? *kept : own_) {}
  PartJoin(const PartJoin&) = delete;
  PartJoin& operator=(const PartJoin&) = delete;

  // Both sides in the order of this part. The plan outlives what follows.
  void fill(const JoinPlan& plan, std::size_t part, Layout layout);
  // Pairs of codes that the part compares, exactly where that is cheap to count, else an upper bound.
  double candidates() const;
  // `done` is told how many places more are through.
  void match(const PartRange& range, PairTaker& taker, const std::function<void(std::size_t)>& done = {}) const;
  // Where buckets of side a begin, and where the last ends.
  const Buffer<std::uint32_t>& starts() const { return buckets_.a.starts(); }

 private:
  const Buckets<Code>& b() const { return sides_.self ? buckets_.a : buckets_.b; }

  const Sides<Code> sides_;
  const int radius_;
  const Executor& executor_;
  const JoinPlan* plan_ = nullptr;
  std::size_t part_ = 0;
  BucketPair<Code> own_;
  BucketPair<Code>& buckets_;
  std::vector<std::uint32_t> flips_;
};

extern template class PartJoin<std::uint64_t>;
extern template class PartJoin<Code256>;

}  // namespace millrace::hamming
