// Input: sixteen columns of a pair of groups, and which of its videos are on one side.
// Output: the squares of Welch's t, counted and compared.
// Never: used from outside this folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::statistics {

// Columns that are worked on together.
inline constexpr std::size_t kBlock = 16;

// What is kept of each value.
enum class Kind : std::uint8_t {
  balanced,  // y: two groups of the same size without holes; squares of sides are the rest of all squares
  full,      // y, y^2: no holes
  holes,     // y, y^2, 1 where there is a value
};
inline constexpr std::size_t layers_of(Kind kind) { return static_cast<std::size_t>(kind) + 1; }

// y: the value less the mean over the pair, scaled by a power of two; 0 where there is none.
struct Block {
  Kind kind = Kind::full;
  const double* values = nullptr;      // [videos, layers, kBlock]
  std::size_t chosen = 0, others = 0;  // videos of either side
  const double* sums = nullptr;        // [layers of holes, kBlock]: over all of the pair's videos
  const double* thresholds = nullptr;  // [kBlock]: t^2 from which on a shuffle counts
};

// Of shuffles [shuffles, chosen]: adds to `counts` [kBlock] how many reach the threshold; raises `most` [shuffles,
// kBlock] to t^2.
void permute_block(const Block& block, const std::uint16_t* shuffles, std::size_t count, double* counts, double* most);

}  // namespace millrace::statistics
