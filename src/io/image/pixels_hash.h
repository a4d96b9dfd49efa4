// Input: a picture file.
// Output: a hash of its decoded pixels, as they are stored.
// Never: holds the picture.
#pragma once

#include <cstdint>
#include <functional>

#include "src/io/image/picture.h"
#include "src/memory/budget.h"

namespace millrace {

// Equal for pictures of equal sides, channels and pixels, decoded in full; the EXIF orientation counts too. 128 bits of
// XXH3. Waits for the decoder's memory from `budget`. Error for what does not decode whole.
Outcome<ContentHash> pixels_hash(const std::string& path, const DecodeOptions& options, Budget& budget);

}  // namespace millrace
