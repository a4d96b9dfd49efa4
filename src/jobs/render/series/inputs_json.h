// Input: the inputs that are drawn.
// Output: the description of them that a store contains.
// Never: takes one file for another because of its name.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/render/series/source.h"

namespace millrace::render {

// Returns the attribute `inputs`: names, sizes, hashes and datasets, in the order of `index`.
std::string inputs_json(const std::vector<PriceSource>& sources);

}  // namespace millrace::render
