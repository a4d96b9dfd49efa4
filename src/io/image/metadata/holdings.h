// Input: a picture file, and the places of its metadata.
// Output: what it holds besides its picture, each with a hash of its bytes.
// Never: it decodes any of that.
#pragma once

#include <vector>

#include "src/io/image/holding.h"
#include "src/io/image/metadata/parts.h"

namespace millrace {

// `file` may be read whole.
std::vector<Holding> holdings_in(ByteRange file, const MetadataParts& parts);

}  // namespace millrace
