// Input: files that resemble each other.
// Output: for each file, metadata on its origin and those of its sidecars. Also damage of RAW data, content that
// decoders find but do not show (if an earlier version did not ask), and videos of Live Photos that no name reveals.
// Never: reads a file that is in no group, or a file twice in the life of a catalog. Only sidecars and videos are read
// in every run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/io/image/exposure_match.h"
#include "src/io/image/provenance.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/scan/live_photo_videos.h"
#include "src/jobs/picture_files.h"

namespace millrace::dedupe {

class Origins {
 public:
  // `files` are indexes into Library::files; those that are known are not read again. Marks a RAW file with incomplete
  // data as damaged in `library`: its preview, which was decoded, does not show the damage.
  void read(std::span<const std::uint32_t> files, Library& library, const PictureFileOptions& options, Catalog& catalog,
            RunContext& context);

  // Returns empty provenance for a file that was not read.
  const Provenance& find_provenance(std::uint32_t file) const;

 private:
  std::unordered_map<std::uint32_t, Provenance> known_;
  std::optional<LivePhotoVideos> live_photo_videos_;
};

// Record of an origin in the catalog. decode_origin() returns nullopt for a record of another version.
struct Origin {
  Provenance provenance;
  std::string raw_damage;  // why the RAW data of a RAW file is incomplete; empty if it is complete
};
std::optional<Origin> decode_origin(const CatalogOrigin& kept);
CatalogOrigin encode_for_catalog(const ContentHash& content, const Origin& origin);
// Lists all content that a file holds besides the picture that is compared.
std::vector<ExtraData> holdings_of(const CatalogPicture& picture, const Origin& origin);

// Returns how near a file is to what a camera wrote, 0 to 4. A camera's own file as written is 4. A camera's file that
// a program saved or scaled again is 2. A file that names no camera is 1; one whose name says that it was edited is 0.
int score_originality(const Provenance& origin, std::string_view path, const CatalogPicture& picture);
// Returns a score of the data that people added: stars, keywords, names, title, description, place.
int score_user_metadata(const Provenance& origin);

}  // namespace millrace::dedupe
