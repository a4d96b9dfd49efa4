// Input: the result of a search, and its catalog.
// Output: a small JPEG of each picture that a page shows, as large as all of them fit into the page.
// Never: reads a picture again whose preview the catalog has.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "src/jobs/dedupe/group/groups.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Longer side of a preview in pixels. A page with more pictures than fit uses the catalog's thumbnails, of
// kThumbnailSide.
inline constexpr int kPreviewSide = 256;
// Limit for a page of 64 MiB: a preview of at most 14 KiB takes 19 KiB in base64; most take two thirds of that.
inline constexpr std::size_t kMaxPreviewBytes = 14 << 10;

class Previews {
 public:
  // Decodes the missing previews in parallel, and keeps them in the catalog.
  Previews(const SearchResult& result, const DedupeOptions& options, Catalog& catalog, RunContext& context);

  // Length of the longer side in pixels.
  int side() const { return side_; }
  // Bytes of a JPEG. For a picture that cannot be decoded now, its thumbnail, or an empty string.
  std::string find_jpeg(const CatalogPicture& picture) const;

 private:
  Catalog& catalog_;
  int side_;
};

}  // namespace millrace::dedupe
