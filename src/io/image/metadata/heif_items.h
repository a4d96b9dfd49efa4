// Input: a HEIF file and its meta box.
// Output: where its items lie: EXIF, XMP, a profile of colours, and the pictures besides the one that is shown.
// Never: decodes an item.
#pragma once

#include "src/io/image/metadata/parts.h"

namespace millrace {

// HEIF's and JPEG XL's EXIF says first how many bytes stand before it.
ByteRange exif_behind_offset(ByteRange data);

void add_heif_items(ByteRange file, ByteRange meta, MetadataParts& parts);

}  // namespace millrace
