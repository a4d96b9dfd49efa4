// Input: a picture reduced to 32 x 32 luma.
// Output: 0 to 100: how much information a perceptual hash of it has.
// Never: judges beauty, sharpness or exposure.
#pragma once

#include <cstdint>

namespace millrace {

// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr int kQualitySide = 32;

// Quality up to which a hash matches too much: the gate that every hash kind shares. PDQ's own advice, on its own
// scale.
inline constexpr int kQualityGate = 49;

// Returns PDQ's quality measure on a 32 x 32 Lanczos reduction: the sum over neighbouring pixels of |difference| * 100
// / 255, rounded towards zero each, over 45, at most 100. (PDQ divides by 90 at 64 x 64; half as many neighbours a side
// are twice as far apart.) Flat, blank and two-tone pictures come out near 0.
int gradient_quality(const std::uint8_t* luma32);

}  // namespace millrace
