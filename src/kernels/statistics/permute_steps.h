// Input: sixteen columns of a pair of groups, and which of its videos are on one side.
// Output: the squares of Welch's t, counted and compared.
// Never: is used outside of this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::statistics {

// Number of columns that are processed together.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kBlock = 16;

// Layers that are kept of each value.
enum class BlockKind : std::uint8_t {
  // y: two groups of the same size without missing values; the squares of sides follow from all squares.
  balanced,
  full,   // y, y^2: no missing values
  holes,  // y, y^2, and 1 where there is a value
};
inline constexpr std::size_t layers_of(BlockKind kind) { return static_cast<std::size_t>(kind) + 1; }

// Block of columns. y is the value less the mean over the pair, scaled by a power of two; 0 where there is no value.
struct PermutationBlock {
  BlockKind kind = BlockKind::full;
  const double* values = nullptr;      // [videos, layers, kBlock]
  std::size_t chosen = 0, others = 0;  // numbers of videos on either side
  const double* sums = nullptr;        // [3 layers, kBlock]: over all of the pair's videos
  const double* thresholds = nullptr;  // [kBlock]: t^2 from which on a permutation counts
};

// Evaluates permutations `shuffles` [count, chosen]. Adds to `counts` [kBlock] how many reach the threshold; raises
// `most` [count, kBlock] to t^2.
void permute_block(const PermutationBlock& block, const std::uint16_t* shuffles, std::size_t count, double* counts,
                   double* most);

}  // namespace millrace::statistics
