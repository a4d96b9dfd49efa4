// Input: a steep line, or the two sides of a steep leg, and rows that they cross from top to bottom.
// Output: the line's areas in each row's cells, or the leg's pixels.
// Never: used from outside this folder.
#pragma once

#include <array>
#include <cstdint>

#include "src/kernels/stroke/stroke_tile.h"

namespace millrace::stroke {

// Maximum number of rows that are computed at once.
inline constexpr int kRowsAtOnce = 64;

// Areas per row i, added to the cells first[i], first[i] + 1 and first[i] + 2, in 1/2^24 of a pixel. The third is 0 if
// two cells suffice.
struct CrossedRows {
  alignas(64) std::array<std::int32_t, kRowsAtOnce> first, area0, area1, area2;
};

// Computes `count` rows; the top of the first one is `above` below the line's point (x, ...), in 1/65536 of a pixel.
// |slope| is at most 1. Only integers and IEEE 754 doubles are used: the results are the same at every CPU level.
void cross_rows(double x, double above, double slope, int count, CrossedRows& out);

// Maximum number of a leg's rows that are computed at once, and of pixels that such a row may touch.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kSlantRows = 32, kSlantPixels = 8;
// Limits of |step| and of |step| + across, which keep the touched pixels within kSlantPixels.
inline constexpr double kMaxStep = 3, kWidestSlant = kSlantPixels - 1;
// Maximum error of x in pixels.
inline constexpr double kSlantError = 1.0 / (1 << 18);

// Computes rows of a leg. The left side crosses the top of the first row at x, in pixels, and moves `step` to the right
// per row. The right side is `across` to the right of it. Each row has kSlantPixels levels, the first one lowest.
// `count` is at most kSlantRows, and as many rows and levels may be written. Only integers and IEEE 754 single floats
// are used: the results are the same at every CPU level.
void slant_rows(double x, double step, double across, int count, TileRow* rows, std::uint64_t* levels);

}  // namespace millrace::stroke
