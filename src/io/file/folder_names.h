// Input: an open folder.
// Output: the names in it, in no order; none where it cannot be read.
// Never: moves the position of the descriptor.
#pragma once

#include <string>
#include <vector>

namespace millrace {

std::vector<std::string> names_in(int folder);

}  // namespace millrace
