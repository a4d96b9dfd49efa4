// Input: a thumbnail of 64 x 64 RGB.
// Output: its 64-bit hashes, as candidates are found by them.
// Never: replaces the hashes of a full decode, where there are such.
#pragma once

#include <array>
#include <cstdint>

#include "src/jobs/dedupe/options.h"

namespace millrace::dedupe {

// The four kinds of kCatalogCodes of the whole thumbnail, then dhash and phash of its middle: three pixels off each
// side, which is what a crop by a twentieth leaves. CatalogPicture::codes are these, the first four from a full decode.
using ThumbnailCodes = std::array<std::uint64_t, 6>;
ThumbnailCodes thumbnail_codes(const std::uint8_t* rgb64);

// Where in ThumbnailCodes a kind stands. Only dhash and phash have a middle.
std::size_t slot_of(HashKind kind);
std::size_t middle_slot_of(HashKind kind);

}  // namespace millrace::dedupe
