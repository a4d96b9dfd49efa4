// Input: a library, and the folders that were named.
// Output: which album each file is in; pictures split by it.
// Never: looks at a picture.
//
// An album is a folder that was named, with all below it, the innermost of several; where one alone was named, each
// folder in it, and the files beside those. A picture that was named itself is in the album of its folder.
#pragma once

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

void find_albums(const std::vector<std::string>& roots, Library& library);

// A picture with files in several albums becomes one in each, so that no two files of different albums meet. They stay
// sorted by content.
void split_by_albums(Library& library);

}  // namespace millrace::dedupe
