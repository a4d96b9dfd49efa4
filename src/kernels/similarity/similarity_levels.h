// Input: levels of two pictures at the same places.
// Output: what fitting a tone curve counts and sums over them.
// Never: used from outside this folder.
#pragma once

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {

inline constexpr float kBlack = 4, kWhite = 251;  // beyond these a level may have been clipped

using Places = std::array<float, kPlaces>;
using Levels = std::array<Places, 3>;

// Over the places inside: the range of the levels that a curve is used on, and sums of these (from), of what it makes
// of them (to), their squares, and the squares of what it moves them by.
struct Use {
  float low, high, count, moved2, from, from2, to, to2;
};

}  // namespace millrace::similarity
