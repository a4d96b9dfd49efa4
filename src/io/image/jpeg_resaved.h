// Input: two JPEG files of equal sides.
// Output: whether the one was made of the other by saving it again, at a higher quality.
// Never: compares what they show: of two that show the same, that says which was first.
#pragma once

#include "src/io/image/picture.h"
#include "src/memory/budget.h"

namespace millrace {

// JPEG rounds coefficients to multiples of a step. They stay near these when they are saved again in finer steps; those
// of a picture that was never rounded so lie anywhere. Decodes `path` in full, waiting for the memory from `budget`.
// False where it cannot be told.
bool is_saved_again(const std::string& path, const std::string& from, const DecodeOptions& options, Budget& budget);

}  // namespace millrace
