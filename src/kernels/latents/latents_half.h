// Input: float16 numbers.
// Output: the float32 of the same value; integers in the order of the values.
// Never: rounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace millrace::latents {

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16, size = half & 0x7FFFU;
  // Infinity and NaN keep their exponent of ones. Other numbers are scaled by 2^112, which makes numbers of subnormals
  // too.
  if (size >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (size & 0x3FFU) << 13);
  const float value = std::bit_cast<float>(size << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

// Integers in the order of the numbers; both zeros are 0.
inline std::int16_t order_of_half(std::uint16_t half) {
  return static_cast<std::int16_t>((half & 0x8000U) != 0 ? 0x8000U - half : half);
}
inline float of_half_order(int order) {
  return half_to_float(static_cast<std::uint16_t>(order < 0 ? 0x8000 - order : order));
}

}  // namespace millrace::latents
