// Input: the locations of a picture file's metadata.
// Output: the bytes of its ICC profile, the same however the file's format packs them.
// Never: interprets the profile; srgb_converter.h does.
#pragma once

#include <cstdint>
#include <vector>

#include "src/io/image/metadata/metadata_locations.h"

namespace millrace {

// Limit in bytes. The longest profiles, of printers, have 4 MB.
inline constexpr std::uint64_t kMaxProfileBytes = 8 << 20;

// Returns nothing where there is no profile, or one that is too long or cannot be unpacked.
std::vector<std::uint8_t> read_icc_profile(const MetadataLocations& locations);

}  // namespace millrace
