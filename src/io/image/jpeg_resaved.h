// Input: two JPEG files of the same width and height.
// Output: whether one was made from the other by saving it again, at a higher quality.
// Never: compares what the pictures show. For two pictures that show the same, it tells which was saved first.
#pragma once

#include "src/io/image/picture.h"
#include "src/memory/budget.h"

namespace millrace {

// JPEG rounds coefficients to multiples of a step. They stay near these multiples when they are saved again with finer
// steps. Coefficients of a picture that was never rounded with that step lie anywhere. Decodes `path` in full, and
// waits for the memory from `budget`. Returns false where it cannot be decided.
bool is_resaved(const std::string& path, const std::string& from, const DecodeOptions& options, Budget& budget);

}  // namespace millrace
