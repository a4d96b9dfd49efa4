// Input: what a search has found, and its catalogue.
// Output: a small JPEG of each picture that a page shows: as large as all of them fit into the page.
// Never: reads a picture again whose preview the catalogue has.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/group/groups.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// On the longer side; a page that shows more than fit has the catalogue's thumbnails, of kThumbnailSide.
inline constexpr int kPreviewSide = 256;
// A page has 64 MiB; in base64 a preview of at most 14 KiB takes 19, most of them two thirds of that.
inline constexpr std::size_t kMostPreviewBytes = 14 << 10;

class Previews {
 public:
  // Decodes what is missing, in parallel, and keeps it in the catalogue.
  Previews(const SearchResult& result, const Options& options, Catalog& catalog, RunContext& context);

  // Pixels on the longer side.
  int side() const { return side_; }
  // Bytes of a JPEG; of a picture that cannot be decoded now its thumbnail, or nothing.
  std::string of(const CatalogPicture& picture) const;

 private:
  Catalog& catalog_;
  int side_;
};

}  // namespace millrace::dedupe
