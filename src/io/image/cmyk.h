// CMYK to RGB as Pillow 13.0.0 converts it, without a colour profile: each ink absorbs its share of the light that
// black leaves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace {

// Rounded a * b / 255, computed by shifts alone.
constexpr int multiply_255(int a, int b) {
  const int t = a * b + 128;
  return ((t >> 8) + t) >> 8;
}

constexpr std::uint8_t cmyk_channel(int ink, int black) {
  const int left = 255 - black;
  const int value = left - multiply_255(ink, left);
  return static_cast<std::uint8_t>(value < 0 ? 0 : value);
}

// In `inverted`, 255 means no ink.
inline void inverted_cmyk_to_rgb(const std::uint8_t* inverted, std::uint8_t* rgb, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * i + c] = cmyk_channel(255 - inverted[4 * i + c], 255 - inverted[4 * i + 3]);
    }
  }
}

}  // namespace millrace
