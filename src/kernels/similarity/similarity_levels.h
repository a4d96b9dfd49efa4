// Input: levels of two pictures at the same places.
// Output: counts and sums over them, for fitting a tone curve.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {

// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr float kBlack = 4, kWhite = 251;  // beyond these a level may have been clipped

using Places = std::array<float, kPlaces>;
using Levels = std::array<Places, 3>;

// Range of the levels that a curve is used on, over the places inside. Sums of these levels (from), of the curve's
// results (to), of the squares of both, and of the squares of their differences (moved2).
struct LevelSums {
  float low, high, count, moved2, from, from2, to, to2;
};

}  // namespace millrace::similarity
