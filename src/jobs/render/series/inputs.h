// Input: the inputs that are drawn.
// Output: what a store says of them.
// Never: takes one file for another because of its name.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/render/series/source.h"

namespace millrace::render {

// The attribute `inputs`: names, sizes, hashes and datasets, in the order of `index`.
std::string inputs_json(const std::vector<Source>& sources);

}  // namespace millrace::render
