// Input: pairs found by tasks, in any order.
// Output: one sorted list, the same whatever that order was; or the number of pairs.
// Never: holds a pair that was not reserved from the budget.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "src/base/mutex.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

// Receiver of the pairs that tasks find.
class PairTaker {
 public:
  PairTaker() = default;
  virtual ~PairTaker() = default;
  PairTaker(const PairTaker&) = delete;
  PairTaker& operator=(const PairTaker&) = delete;

  // Thread-safe; leaves `pairs` empty.
  virtual void take(std::vector<HammingPair>& pairs) = 0;
  // Forgets all pairs that were taken.
  virtual void clear() = 0;
};

// Returns the number of pairs of rows in a pair of nodes; a side without numbers of rows has one row a node.
inline std::uint64_t count_row_pairs(const HammingPair& pair, std::span<const std::uint32_t> rows_of_i,
                                     std::span<const std::uint32_t> rows_of_j) {
  return std::uint64_t{rows_of_i.empty() ? 1 : rows_of_i[pair.i]} * (rows_of_j.empty() ? 1 : rows_of_j[pair.j]);
}

// Counts pairs and holds none.
class PairCounter : public PairTaker {
 public:
  // Number of rows that each i and each j represents.
  PairCounter(std::span<const std::uint32_t> rows_of_i, std::span<const std::uint32_t> rows_of_j)
      : rows_of_i_(rows_of_i), rows_of_j_(rows_of_j) {}

  void take(std::vector<HammingPair>& pairs) override;
  void clear() override { pairs_ = rows_ = 0; }
  std::uint64_t pairs() const { return pairs_; }
  std::uint64_t pairs_of_rows() const { return rows_; }

 private:
  const std::span<const std::uint32_t> rows_of_i_, rows_of_j_;
  std::atomic<std::uint64_t> pairs_{0}, rows_{0};
};

class PairCollector : public PairTaker {
 public:
  explicit PairCollector(Budget& budget) : budget_(budget) {}

  void take(std::vector<HammingPair>& pairs) override;
  void clear() override;
  // Returns the pairs with i < `limit` and j < `second_limit`, sorted. The collector is empty afterwards.
  HammingPairs sorted(std::uint64_t limit, std::uint64_t second_limit, const Executor& executor);

 private:
  Budget& budget_;
  Mutex mutex_;
  std::vector<std::vector<HammingPair>> chunks_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<Reservation> memory_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::hamming
