#pragma once

#include <cstdint>

namespace millrace {

inline constexpr int kResizePrecision = 22;
inline constexpr std::int32_t kResizeHalf = std::int32_t{1} << (kResizePrecision - 1);

constexpr std::uint8_t resize_clip(std::int32_t sum) {
  const std::int32_t value = sum >> kResizePrecision;
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace millrace
