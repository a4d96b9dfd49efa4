#pragma once

#include <cstdint>

#include "src/kernels/luma/luma_math.h"

namespace millrace {

constexpr std::uint32_t ycc_clip(int v) { return static_cast<std::uint32_t>(v < 0 ? 0 : v > 255 ? 255 : v); }

// `cb` and `cr` have 128 subtracted.
constexpr std::uint8_t luma_of_ycc(int y, int cb, int cr) {
  constexpr int kHalf = 32768;
  return luma_of(ycc_clip(y + ((91881 * cr + kHalf) >> 16)), ycc_clip(y + ((-22554 * cb - 46802 * cr + kHalf) >> 16)),
                 ycc_clip(y + ((116130 * cb + kHalf) >> 16)));
}

// Returns the chroma of pixel x, interpolated from the nearer and the farther row, minus 128.
constexpr int upsampled(const std::uint8_t* near, const std::uint8_t* far, int x) {
  const int i = x / 2, beside = x % 2 == 0 ? i - 1 : i + 1;
  const int sum = 3 * (3 * near[i] + far[i]) + 3 * near[beside] + far[beside];
  return ((sum + (x % 2 == 0 ? 8 : 7)) >> 4) - 128;
}

}  // namespace millrace
