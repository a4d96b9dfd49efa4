// Enters: 8-bit pixels.
// Leaves: a PNG file of them, whole or not at all.
// Never: keeps a time or another thing of this machine in it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace millrace {

// Rows from the top; channels is 1 (gray) or 3 (RGB). Throws Failure.
void write_png(const std::string& path, int width, int height, int channels, std::span<const std::uint8_t> pixels);

}  // namespace millrace
