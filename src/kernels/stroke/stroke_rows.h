// Enters: a steep line, and rows that it crosses from top to bottom.
// Leaves: what it adds to each row's cells.
// Never: used from outside this folder.
#pragma once

#include <array>
#include <cstdint>

namespace millrace::stroke {

// As many rows as are computed at once.
inline constexpr int kRowsAtOnce = 64;

// For row i: cells first[i], first[i] + 1 and first[i] + 2 gain these areas, in 1/2^24 of a pixel; the third is 0 where
// two cells suffice.
struct CrossedRows {
  alignas(64) std::array<std::int32_t, kRowsAtOnce> first, area0, area1, area2;
};

// Of `count` rows, the first one's top is `above` below the line's point (x, ...), all in 1/65536 of a pixel; |slope|
// is at most 1. Integers and IEEE 754 doubles: the same at every CPU level.
void cross(double x, double above, double slope, int count, CrossedRows& out);

}  // namespace millrace::stroke
