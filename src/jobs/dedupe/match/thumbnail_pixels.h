// Input: a thumbnail as the catalogue keeps it.
// Output: its pixels as they are hashed and compared.
// Never: decodes any other JPEG.
#pragma once

#include <optional>
#include <span>

#include "src/kernels/similarity/similarity.h"

namespace millrace::dedupe {

// The whole picture squeezed to a square. Nothing where it does not decode.
std::optional<similarity::Thumbnail> thumbnail_pixels(std::span<const std::uint8_t> jpeg);

}  // namespace millrace::dedupe
