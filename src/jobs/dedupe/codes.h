// Enters: a thumbnail of 64 x 64 RGB.
// Leaves: its 64-bit hashes, in the order of kCatalogCodes.
// Never: replaces the hashes of a full decode in a report; they are for finding candidates.
#pragma once

#include "src/jobs/dedupe/options.h"

namespace millrace::dedupe {

// All four kinds of the whole thumbnail.
Codes whole_codes(const std::uint8_t* rgb64);
// dhash and phash of its middle: three pixels off each side, which is what a crop by a twentieth leaves. The other two
// are zero.
Codes middle_codes(const std::uint8_t* rgb64);

}  // namespace millrace::dedupe
