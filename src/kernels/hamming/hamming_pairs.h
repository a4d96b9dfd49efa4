// Enters: pairs found by tasks, in any order.
// Leaves: one sorted list, the same whatever the order was.
// Never: holds a pair that the budget did not pay for.
#pragma once

#include <mutex>
#include <vector>

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

class PairCollector {
 public:
  explicit PairCollector(Budget& budget) : budget_(budget) {}

  // Thread-safe; leaves `pairs` empty.
  void take(std::vector<Pair>& pairs);
  void clear();
  // Pairs with i < `limit` and j < `second_limit`, sorted. The collector is empty afterwards.
  Pairs sorted(std::uint64_t limit, std::uint64_t second_limit, const Executor& executor);

 private:
  Budget& budget_;
  std::mutex mutex_;
  std::vector<std::vector<Pair>> chunks_;
  std::vector<Reservation> memory_;
};

}  // namespace millrace::hamming
