// Input: a range of items, and a function that processes one batch of them.
// Output: every item processed once, in order.
// Never: fails while items still fit one at a time. Never lets a result depend on the batch: `work` must guarantee
// that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/memory/budget.h"

namespace millrace {

struct BatchLimits {
  std::uint64_t most = 1, min_items = 1;  // items; the first batch has `most`
};

enum class BatchFit : std::uint8_t { easy, tight };

// Calls work(begin, end) for consecutive batches [begin, end). A batch that throws OutOfMemory is halved and tried
// again. A batch of at most `min_items` that throws it ends the call with that exception. A batch that returns
// BatchFit::tight halves the size of the next one. After eight easy batches in a row the size doubles. Each time that
// such a growth is refused, twice as many easy batches are required before the next one. So refused batches stay a
// small part of the work.
template <typename Work>
void run_with_backoff(std::uint64_t begin, std::uint64_t end, BatchLimits sizes, Work&& work) {
  const std::uint64_t min_items = std::max<std::uint64_t>(1, sizes.min_items), most = std::max(min_items, sizes.most);
  std::uint64_t size = most, easy_until_growth = 8, easy = 0;
  bool grown = false;
  while (begin < end) {
    const std::uint64_t next = begin + std::min(size, end - begin);
    BatchFit fit = BatchFit::tight;
    try {
      fit = work(begin, next);
      begin = next;
    } catch (const OutOfMemory&) {
      if (next - begin <= min_items) throw;
      // The refused batch may have been shorter than `size`, at the end of the range.
      size = next - begin;
    }
    if (fit == BatchFit::tight) {
      if (grown) easy_until_growth *= 2;
      size = std::max(min_items, size / 2);
      easy = 0;
    } else if (++easy == easy_until_growth && size < most) {
      size = std::min(most, 2 * size);
      easy = 0;
      grown = true;
      continue;
    }
    grown = false;
  }
}

}  // namespace millrace
