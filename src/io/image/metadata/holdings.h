// Enters: a picture file, and where in it what stands.
// Leaves: what it holds besides its picture, each with a hash of its bytes.
// Never: decodes any of it.
#pragma once

#include <vector>

#include "src/io/image/holding.h"
#include "src/io/image/metadata/parts.h"

namespace millrace {

// `file` may be read whole.
std::vector<Holding> holdings_in(ByteRange file, const MetadataParts& parts);

}  // namespace millrace
