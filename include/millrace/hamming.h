// Input: codes of 64 or 256 bits in memory, and a radius.
// Output: all pairs of codes whose Hamming distance is at most the radius, sorted. The search is exact.
// Never: approximates, or keeps the caller's data.
//
// The pairs are those of `millrace join`, in its order, for any number of threads and on any CPU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "millrace/array.h"
#include "millrace/cancel.h"
#include "millrace/error.h"
#include "millrace/export.h"

namespace millrace {

struct CodePair {
  std::uint32_t i = 0, j = 0;  // row numbers
  std::uint32_t distance = 0;  // number of differing bits
};

struct JoinOptions {
  int radius = 0;                  // in bits, from 0 to one less than the bits of a code
  std::string algorithm = "auto";  // auto, brute or index: the pairs are the same, only the speed differs
  int threads = 0;                 // 0 or less: one per core that this process may run on
  // Maximum working memory in bytes, besides the codes and the sink's own data. 0: 60 % of the available memory.
  std::uint64_t memory = 0;
  const CancelToken* cancel = nullptr;  // polled until the call returns
};

// Receives blocks of pairs, sorted by (i, j) within and across blocks, on the calling thread. `all` is the total number
// of pairs. An exception from the sink ends the call.
using CodePairSink = std::function<void(std::span<const CodePair> block, std::uint64_t all)>;

// Codes are uint64 [n], or uint8 [n, 8] or [n, 32], row after row in host memory; n is at most 2^32 - 2. They are not
// copied, except bytes at an address that is not a multiple of 8. Both functions throw Failure. usage: the codes do not
// fit; the message gives type and shape. out_of_memory: the message estimates the number of pairs. cancelled: `cancel`
// was set.

// Finds each pair i < j once. Without pairs, calls `sink` once with an empty block.
MILLRACE_API void join_codes(const ArrayView& codes, const JoinOptions& options, const CodePairSink& sink);
// Finds pairs of a row i of `queries` and a row j of `base`; both must have codes of the same kind.
MILLRACE_API void search_codes(const ArrayView& queries, const ArrayView& base, const JoinOptions& options,
                               const CodePairSink& sink);

}  // namespace millrace
