// Input: 8-bit pixels.
// Output: the bytes of a JPEG file of them.
// Never: keeps a time or another thing of this machine in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace {

// Appends a baseline JPEG; rows from the top, channels 1 (gray) or 3 (RGB, whose colours are kept at full size),
// quality 1 to 100 as libjpeg counts. Throws Failure.
void append_jpeg(int width, int height, int channels, int quality, std::span<const std::uint8_t> pixels,
                 std::vector<std::uint8_t>& out);

}  // namespace millrace
