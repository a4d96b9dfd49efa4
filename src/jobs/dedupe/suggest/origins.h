// Input: files that look like each other.
// Output: what each says about its origin, its sidecars' words among it; what the RAW data of a RAW file lacks; what
// decoders meet and do not show, where an earlier program did not ask; and films of Live Photos that no name tells.
// Never: it reads a file that stands in no group, or one twice in the life of a catalogue; sidecars and films are read
// in every run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/io/image/provenance.h"
#include "src/io/image/shutter.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/jobs/dedupe/scan/live_films.h"
#include "src/jobs/picture_files.h"

namespace millrace::dedupe {

class Origins {
 public:
  // `files` are indexes into Library::files; what is known already is not read again. A RAW file whose data is not
  // whole is damaged from now on, in `library`: its preview, which was decoded, does not show that.
  void read(std::span<const std::uint32_t> files, Library& library, const PictureFileOptions& options, Catalog& catalog,
            RunContext& context);

  // Of a file that was not read, one that says nothing.
  const Provenance& of(std::uint32_t file) const;

 private:
  std::unordered_map<std::uint32_t, Provenance> known_;
  std::optional<LiveFilms> live_films_;
};

// What the catalogue keeps of an origin; nothing for one that another version kept.
struct Origin {
  Provenance told;
  std::string raw_damage;  // why the RAW data of a RAW file is not whole; empty where it is
};
std::optional<Origin> origin_from(const CatalogOrigin& kept);
CatalogOrigin kept_of(const ContentHash& content, const Origin& origin);
// Lists all that a file holds beside the picture that is compared.
std::vector<Holding> holdings_of(const CatalogPicture& picture, const Origin& origin);

// How near a file is to what a camera wrote, 0 to 4: a camera's own file as it was written is 4; one of a camera that
// a program has saved or scaled again is 2; nothing known of a camera is 1; an edit by its name is 0.
int originality(const Provenance& origin, std::string_view path, const CatalogPicture& picture);
// What people have given it: stars, keywords, names, title, description, place.
int given(const Provenance& origin);

}  // namespace millrace::dedupe
