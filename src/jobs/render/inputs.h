// Enters: the inputs that are drawn.
// Leaves: what a store says of them, and whether two stores say the same.
// Never: takes one file for another because of its name.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/render/source.h"

namespace millrace::render {

// The attribute `inputs`: names, sizes, hashes and datasets, in the order of `index`.
std::string inputs_json(const std::vector<Source>& sources);

// Whether two such texts speak of the same contents. Names are for people: a file has many.
bool same_inputs(const std::string& a, const std::string& b);

}  // namespace millrace::render
