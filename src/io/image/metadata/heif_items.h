// Input: a HEIF file and its meta box.
// Output: the locations of EXIF, XMP, the ICC profile, and the pictures besides the one that is shown.
// Never: decodes an item.
#pragma once

#include "src/io/image/metadata/metadata_locations.h"

namespace millrace {

// Returns the EXIF block without the offset that HEIF and JPEG XL put before it.
ByteRange skip_exif_offset(ByteRange data);

void add_heif_items(ByteRange file, ByteRange meta, MetadataLocations& locations);

}  // namespace millrace
