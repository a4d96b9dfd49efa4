// Input: a picture file.
// Output: a hash of its decoded pixels, as they are stored.
// Never: holds the picture.
#pragma once

#include <cstdint>
#include <functional>

#include "src/io/image/picture.h"
#include "src/memory/budget.h"

namespace millrace {

// The hash is equal for pictures of the same width, height, channels, pixels and EXIF orientation, decoded in full. It
// is 128 bits of XXH3. Waits for the decoder's memory from `budget`. Returns an Error for a picture that does not
// decode completely.
Outcome<ContentHash> hash_pixels(const std::string& path, const DecodeOptions& options, Budget& budget);

}  // namespace millrace
