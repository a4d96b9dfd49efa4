// Input: a thumbnail JPEG from the catalog.
// Output: its pixels in the form that is hashed and compared.
// Never: decodes any other JPEG.
#pragma once

#include <optional>
#include <span>

#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe {

// The whole picture squeezed to a square; nullopt where the thumbnail does not decode.
std::optional<similarity::Thumbnail> decode_thumbnail_pixels(std::span<const std::uint8_t> jpeg);

}  // namespace millrace::dedupe
