// Input: a thumbnail's pixels.
// Output: the same as a small JPEG, and back.
// Never: reads anything but what it wrote itself; other JPEGs go through picture.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/io/image/fingerprint.h"

namespace millrace {

// The best JPEG of at most `most_bytes`: quality 90 downwards until it fits, colour at half resolution below 80. Same
// pixels, same bytes, on every machine (libjpeg-turbo's integer transform is exact at every SIMD level).
std::vector<std::uint8_t> encode_thumbnail(const Thumbnail& thumbnail, std::size_t most_bytes);

// Nothing when the bytes are not a JPEG of at most 512 pixels a side.
std::optional<Thumbnail> decode_thumbnail(std::span<const std::uint8_t> jpeg);

// The whole picture squeezed to side x side RGB, by the same Lanczos as everything else.
std::vector<std::uint8_t> squeezed(const Thumbnail& thumbnail, int side);

}  // namespace millrace
