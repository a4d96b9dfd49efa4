// Input: 8-bit pixels.
// Output: the bytes of a JPEG file with these pixels.
// Never: stores a time or anything else about this machine in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace {

// Appends a baseline JPEG to `out`. Rows go from the top; channels are 1 (gray) or 3 (RGB, whose colours are kept at
// full resolution); quality is 1 to 100 as libjpeg counts. Throws Failure.
void append_jpeg(int width, int height, int channels, int quality, std::span<const std::uint8_t> pixels,
                 std::vector<std::uint8_t>& out);

}  // namespace millrace
