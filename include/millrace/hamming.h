// Input: codes of 64 or 256 bits in memory, and a radius.
// Output: every pair of them that differ in at most so many bits, exactly, sorted.
// Never: approximates, or keeps what it was given.
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
  std::uint32_t i = 0, j = 0;  // rows
  std::uint32_t distance = 0;  // bits in which they differ
};

struct JoinOptions {
  int radius = 0;                  // in bits, from 0 to one less than a code has
  std::string algorithm = "auto";  // auto; brute or index: the same pairs sooner or later
  int threads = 0;                 // 0 or less: one a core that this process may run on
  // The most to work in, in bytes, beside the codes and what the sink keeps; 0: 60 % of what is available.
  std::uint64_t memory = 0;
  const CancelToken* cancel = nullptr;  // looked at until the call returns
};

// Called with blocks of pairs, sorted by (i, j) within and across them, on the calling thread; `all` is how many there
// are together. What it throws ends the call.
using CodePairSink = std::function<void(std::span<const CodePair> block, std::uint64_t all)>;

// Codes are uint64 [n], or uint8 [n, 8] or [n, 32], row after row in host memory, as many as 2^32 - 2. They are read
// where they lie, unless bytes lie at an address that is no multiple of 8. Both throw Failure: usage for what does not
// fit, naming type and shape; out_of_memory, which says how many pairs there are, about; cancelled.

// Each pair once, i < j. Without pairs `sink` is called once with none.
MILLRACE_API void join_codes(const ArrayView& codes, const JoinOptions& options, const CodePairSink& sink);
// i is a row of `queries`, j one of `base`; codes of the same kind.
MILLRACE_API void search_codes(const ArrayView& queries, const ArrayView& base, const JoinOptions& options,
                               const CodePairSink& sink);

}  // namespace millrace
