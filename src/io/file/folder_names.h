// Input: the descriptor of an open folder.
// Output: the names in the folder, unsorted; none if the folder cannot be read.
// Never: moves the position of the descriptor.
#pragma once

#include <string>
#include <vector>

namespace millrace {

std::vector<std::string> list_names(int folder);

}  // namespace millrace
