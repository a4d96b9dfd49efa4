// Input: rows of one collection, a block or two at a time.
// Output: the pairs of rows within a block, or of one block with another, as hamming.h defines them for all rows at
// once.
// Never: frees memory between blocks: all of them need it, and clearing it anew costs a tenth of a join.
//
// Each block that is set is collapsed to its nodes; its memory is kept until the next block of that side.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

struct BlockJoinResult {
  std::uint64_t pairs = 0;  // number of pairs of rows
  Algorithm used = Algorithm::brute;
  std::string why;
};

template <typename Code>
class BlockPair {
 public:
  // Fills all of `rows`.
  using Read = std::function<void(std::span<Code> rows)>;

  BlockPair(const Engines& engines, Budget& budget);
  ~BlockPair();
  BlockPair(const BlockPair&) = delete;
  BlockPair& operator=(const BlockPair&) = delete;

  void set_first(std::uint64_t rows, const Read& read);
  void set_second(std::uint64_t rows, const Read& read);

  // Finds pairs of rows of the first block, i < j; or (i: row of the first, j: row of the second). They are sorted and
  // passed to the sink in blocks, as by expand(); without a sink they are counted. Pairs of nodes take 24 bytes each
  // while they are sorted; rows, nodes and pairs that come out take 60.
  BlockJoinResult join_first(const Options& options, const PairSink& sink);
  BlockJoinResult join_both(const Options& options, const PairSink& sink);

 private:
  struct Inside;
  const std::unique_ptr<Inside> inside_;
};

extern template class BlockPair<std::uint64_t>;
extern template class BlockPair<Code256>;

// Estimate for blocks of so many rows, from a sample of similar codes. Memory for pairs comes on top.
struct BlockCost {
  Bytes memory;
  double first_seconds = 0, both_seconds = 0;  // times to compare, on the CPU
};
BlockCost block_cost(std::span<const std::uint64_t> sample, std::uint64_t rows, const Options& options,
                     const Executor& executor);
BlockCost block_cost(std::span<const Code256> sample, std::uint64_t rows, const Options& options,
                     const Executor& executor);

}  // namespace millrace::hamming
