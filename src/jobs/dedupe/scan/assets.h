// Input: a library's files.
// Output: which of them are one press of the shutter.
// Never: moves or drops a file; it only says what belongs together.
//
// Same folder, same stem, same moment: a RAW file and its JPEG or HEIF, a Live Photo's film, XMP and other sidecars.
// One file stands for the asset: the JPEG or HEIF where there is one, since it is what copies are made of, else the
// RAW. The others are its companions: never compared, never offered against it, and moved with it. Two plain pictures
// of one stem (photo.jpg and photo.png) are two assets.
#pragma once

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

// Fills companions, has_raw and has_film of the files that stand for assets, and takes `picture` from companions. Films
// and sound that accompany no picture are not read.
// Afterwards Library::pictures name only files that stand for their asset; some may have none.
void find_assets(Library& library);

}  // namespace millrace::dedupe
