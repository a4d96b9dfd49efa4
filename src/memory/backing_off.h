// Input: how many items there are, and work that takes a batch of them.
// Output: the work done for all of them, in their order.
// Never: gives up on what fits one by one; decides what a result is: that must not depend on the batch an item was in.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/memory/budget.h"

namespace millrace {

struct BatchSizes {
  std::uint64_t most = 1, fewest = 1;  // items; `most` is where it begins
};

enum class Fit : std::uint8_t { easy, tight };

// Calls work(begin, end) for batches of [begin, end). One that throws OutOfMemory is halved and tried again, down to
// `fewest` items, of which OutOfMemory is thrown again; one that was Fit::tight makes the next one half as large. After
// eight easy ones in a row batches double; after twice as many as the time before, where that was refused, so that
// what is tried in vain stays a small part of the work.
template <typename Work>
void backing_off(std::uint64_t begin, std::uint64_t end, BatchSizes sizes, Work&& work) {
  const std::uint64_t fewest = std::max<std::uint64_t>(1, sizes.fewest), most = std::max(fewest, sizes.most);
  std::uint64_t size = most, patience = 8, easy = 0;
  bool grown = false;
  while (begin < end) {
    const std::uint64_t next = begin + std::min(size, end - begin);
    Fit fit = Fit::tight;
    try {
      fit = work(begin, next);
      begin = next;
    } catch (const OutOfMemory&) {
      if (next - begin <= fewest) throw;
      // What was tried may have been less than a whole batch.
      size = next - begin;
    }
    if (fit == Fit::tight) {
      if (grown) patience *= 2;
      size = std::max(fewest, size / 2);
      easy = 0;
    } else if (++easy == patience && size < most) {
      size = std::min(most, 2 * size);
      easy = 0;
      grown = true;
      continue;
    }
    grown = false;
  }
}

}  // namespace millrace
