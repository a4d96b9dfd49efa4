// Input: the files of a library.
// Output: the assets, each the files of one shot.
// Never: moves or drops a file; it only determines which files belong together.
//
// The files of an asset have the same folder, stem and moment: a RAW file and its JPEG or HEIF, a Live Photo's video,
// XMP and other sidecars. One file represents the asset: the JPEG or HEIF if there is one, since copies are made from
// it, else the RAW file. The others are its companions: never compared, never offered against it, and moved with it.
// Two plain pictures of one stem (photo.jpg and photo.png) are two assets.
#pragma once

#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

// Fills companions, has_raw and has_video of the files that represent assets, and removes `picture` from companions.
// Counts videos and sound that accompany no picture as not read. Afterwards Library::pictures list only files that
// represent their asset; a picture may have none.
void find_assets(Library& library);

}  // namespace millrace::dedupe
