#pragma once

#include <cstdint>

namespace millrace {

// 0.299, 0.587 and 0.114 in 16 fractional bits; they add up to exactly 1.
inline constexpr std::uint32_t kLumaRed = 19595;
inline constexpr std::uint32_t kLumaGreen = 38470;
inline constexpr std::uint32_t kLumaBlue = 7471;

constexpr std::uint8_t luma_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<std::uint8_t>((kLumaRed * r + kLumaGreen * g + kLumaBlue * b + 32768) >> 16);
}

}  // namespace millrace
