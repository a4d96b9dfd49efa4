// Input: two pictures, what their files are called and what they say.
// Output: whether a camera or a phone wrote one press of the shutter twice.
// Never: takes an export for what the camera wrote.
#pragma once

#include <string>

#include "src/io/image/provenance.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

struct NamedPicture {
  const std::string& path;
  const CatalogPicture& picture;
  const Provenance& told;
};

// HEIC and JPEG of one stem in one folder and of one moment; or a RAW file and the camera's own JPEG or HEIF of one
// stem, in any two folders, whose cameras and times do not differ: some RAW files tell neither. In one folder the RAW
// accompanies the other (assets.h).
bool is_one_shot(const NamedPicture& a, const NamedPicture& b);

}  // namespace millrace::dedupe
