// Input: a library, and the folders named on the command line.
// Output: the album of each file; optionally pictures split by album.
// Never: opens a picture.
//
// An album is a named folder with everything below it; of nested named folders the innermost counts. If only one folder
// is named, its albums are each folder in it, and the files directly in it. A picture that was named itself is in the
// album of its folder.
#pragma once

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

void find_albums(const std::vector<std::string>& roots, Library& library);

// Splits a picture with files in several albums into one picture per album, so that no two files of different albums
// match. The pictures stay sorted by content.
void split_by_albums(Library& library);

}  // namespace millrace::dedupe
