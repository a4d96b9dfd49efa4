// Input: a picture file, and the locations of its metadata.
// Output: the further data that the file holds besides its picture, each with a hash of its bytes.
// Never: decodes any of these data.
#pragma once

#include <vector>

#include "src/io/image/holding.h"
#include "src/io/image/metadata/parts.h"

namespace millrace {

// May read all of `file`.
std::vector<Holding> holdings_in(ByteRange file, const MetadataParts& parts);

}  // namespace millrace
