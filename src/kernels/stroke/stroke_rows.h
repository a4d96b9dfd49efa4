// Input: a steep line, or the two sides of a steep leg, and rows that they cross from top to bottom.
// Output: what the line adds to each row's cells; the leg's pixels.
// Never: used from outside this folder.
#pragma once

#include <array>
#include <cstdint>

#include "src/kernels/stroke/stroke_tile.h"

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

// As many rows of a leg as are computed at once, and as many pixels as a row of it may touch.
inline constexpr int kSlantRows = 32, kSlantPixels = 8;
// |step| is at most the one, |step| + across the other: so no row touches more pixels.
inline constexpr double kLongestStep = 3, kWidestSlant = kSlantPixels - 1;
// x is off by at most this.
inline constexpr double kSlantError = 1.0 / (1 << 18);

// The left side crosses the top of the first row at x, in pixels, and each further row `step` further right; the right
// side is `across` beside it. kSlantPixels levels a row, the first one lowest. `count` is at most kSlantRows, and so
// many rows and levels may be written. Integers and IEEE 754 single floats: the same at every CPU level.
void slant_rows(double x, double step, double across, int count, TileRow* rows, std::uint64_t* levels);

}  // namespace millrace::stroke
