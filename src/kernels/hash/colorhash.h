// Input: rows of RGB.
// Output: imagehash's colorhash: shares of black, gray, faint hues and bright hues.
// Never: keeps pixels; it holds only sixteen counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/kernels/hash/hash.h"

namespace millrace {

// Counts pixels by Pillow's luma and HSV: black (L < 32); else gray (S < 85); else faint (S < 170) or bright (S > 170)
// by hue in six bins of 42.5. S = 170 belongs to neither, as in the original.
class ColorCounter {
 public:
  ColorCounter() = default;
  // Makes a counter from counts of `total` pixels: black, gray, coloured ones, faint hues, bright hues.
  static ColorCounter of(std::uint64_t total, std::span<const std::uint32_t, 15> counts);
  void add(const std::uint8_t* data, const std::uint8_t* luma, std::size_t count, int channels);
  // 42 bits: three a share. Each share v = min(7, int(fraction * 8)) gives v >= 4, ((v >> 1) & 3) > 0 and v odd,
  // which is how imagehash spells it.
  HashBits bits() const;

 private:
  std::uint64_t total_ = 0, black_ = 0, gray_ = 0, colored_ = 0;
  std::array<std::uint64_t, 6> faint_{}, bright_{};
};

}  // namespace millrace
