// Input: a thumbnail's pixels.
// Output: the same as a small JPEG, and back.
// Never: meant for JPEGs that it did not write itself; others go through picture.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/io/image/fingerprint.h"

namespace millrace {

// Encodes the best JPEG of at most `max_bytes`: quality 90 downwards until it fits, colour at half resolution below
// 80. The same pixels give the same bytes on every machine (libjpeg-turbo's integer transform is exact at every SIMD
// level).
std::vector<std::uint8_t> encode_thumbnail(const Thumbnail& thumbnail, std::size_t max_bytes);

// Returns nothing when the bytes are not a JPEG of at most 512 pixels a side.
std::optional<Thumbnail> decode_thumbnail(std::span<const std::uint8_t> jpeg);

// Scales the whole picture to side x side RGB, ignoring its aspect ratio, by the same Lanczos as everything else.
std::vector<std::uint8_t> resize_to_square(const Thumbnail& thumbnail, int side);

}  // namespace millrace
