#pragma once

#include <cstdint>

namespace millrace::masks {

// Returns x + (y - x) * w / 2^14, rounded half up, of numbers of up to 16 bits; computed in 64 bits.
constexpr std::int64_t between(std::int64_t x, std::int64_t y, std::int64_t w) {
  return x + (((y - x) * w + (std::int64_t{1} << 13)) >> 14);
}

}  // namespace millrace::masks
