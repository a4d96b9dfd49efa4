// Input: rows of 8-bit RGB.
// Output: 8-bit luma, exactly Pillow's "L".
// Never: applies a colour profile or a gamma.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace {

// Computes the luma of `count` interleaved RGB pixels: (19595 R + 38470 G + 7471 B + 32768) >> 16. This is ITU-R 601 in
// 16-bit fixed point, as Pillow 13.0.0 computes it. `luma` may not overlap `rgb`. Exact on every level.
void luma_from_rgb(const std::uint8_t* rgb, std::uint8_t* luma, std::size_t count);

// Computes the definition, one pixel at a time.
void luma_from_rgb_reference(const std::uint8_t* rgb, std::uint8_t* luma, std::size_t count);

}  // namespace millrace
