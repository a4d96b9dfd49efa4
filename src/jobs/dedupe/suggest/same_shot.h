// Input: two pictures, the names of their files, and their metadata.
// Output: whether a camera or a phone wrote the same shot twice.
// Never: takes an export for a file that the camera wrote.
#pragma once

#include <string>

#include "src/io/image/provenance.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

struct NamedPicture {
  const std::string& path;
  const CatalogPicture& picture;
  const Provenance& provenance;
};

// True for a HEIC and a JPEG of one stem, folder and moment. Also true for a RAW file and the camera's own JPEG or HEIF
// of one stem, in any two folders. Their cameras and times must not differ; some RAW files have neither. In one folder
// the RAW file is a companion of the other (assets.h).
bool is_same_shot(const NamedPicture& a, const NamedPicture& b);

}  // namespace millrace::dedupe
