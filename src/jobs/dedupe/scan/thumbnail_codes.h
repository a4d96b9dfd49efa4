// Input: a thumbnail of 64 x 64 RGB pixels.
// Output: its 64-bit hashes, by which candidates are found.
// Never: replaces the hashes of a full decode, where these exist.
#pragma once

#include <array>
#include <cstdint>

#include "src/jobs/dedupe/options.h"

namespace millrace::dedupe {

// Holds the four kinds of kCatalogCodes for the whole thumbnail, then dhash and phash of its middle. The middle leaves
// out three pixels at each side, like a crop by a twentieth. CatalogPicture::codes has the same layout, with the first
// four from a full decode.
using ThumbnailCodes = std::array<std::uint64_t, 6>;
ThumbnailCodes compute_thumbnail_codes(const std::uint8_t* rgb64);

// Returns the index of a kind in ThumbnailCodes. Only dhash and phash have a middle.
std::size_t slot_of(HashKind kind);
std::size_t middle_slot_of(HashKind kind);

}  // namespace millrace::dedupe
