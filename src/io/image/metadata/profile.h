// Input: the places of a picture file's metadata.
// Output: the bytes of its profile of colours, the same in whichever format they were packed.
// Never: it understands them; to_srgb.h does.
#pragma once

#include <cstdint>
#include <vector>

#include "src/io/image/metadata/parts.h"

namespace millrace {

// The longest profiles, of printers, have 4 MB.
inline constexpr std::uint64_t kMostProfile = 8 << 20;

// Returns nothing where there is none, or one that is longer or cannot be unpacked.
std::vector<std::uint8_t> profile_in(const MetadataParts& parts);

}  // namespace millrace
