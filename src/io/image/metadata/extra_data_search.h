// Input: a picture file, and the locations of its metadata.
// Output: the further data that the file holds besides its picture, each with a hash of its bytes.
// Never: decodes any of these data.
#pragma once

#include <vector>

#include "src/io/image/extra_data.h"
#include "src/io/image/metadata/metadata_locations.h"

namespace millrace {

// May read all of `file`.
std::vector<ExtraData> find_extra_data(ByteRange file, const MetadataLocations& locations);

}  // namespace millrace
