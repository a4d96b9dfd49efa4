// Input: a length in pixels.
// Output: the length in whole pixels or in 1/65536 of a pixel, the same on every machine.
// Never: calls the library, which std::nearbyint would do if the baseline has no instruction for it.
#pragma once

#include <bit>
#include <cstdint>

namespace millrace::stroke {

// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kOne = 1 << 16;

// Returns the nearest integer, ties to even, of a value below 2^31: adding 1.5 * 2^52 moves it into the lowest bits.
inline constexpr double kToInteger = 6755399441055744.0;
inline std::int32_t nearest(double v) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(v + kToInteger) & 0xFFFFFFFF);
}
inline std::int32_t to_fixed(double v) { return nearest(v * kOne); }

// Constant for the same rounding of single floats below 2^22: 1.5 * 2^23.
inline constexpr float kToIntegerFloat = 12582912;

// Return the floor and the ceiling of values below 2^50.
inline double floor_of(double v) {
  const double near = (v + kToInteger) - kToInteger;
  return near - static_cast<double>(static_cast<int>(near > v));
}
inline double ceil_of(double v) {
  const double near = (v + kToInteger) - kToInteger;
  return near + static_cast<double>(static_cast<int>(near < v));
}

}  // namespace millrace::stroke
