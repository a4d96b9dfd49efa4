// Input: a picture file, and the sidecar files that belong to it.
// Output: the facts that people wrote about it, in their own words; and the same as an XMP sidecar.
// Never: fails on damaged metadata of a picture, which count as absent; drops data that do not fit without saying so
// (`cut`); writes a file.
//
// Sources are EXIF 3.0, XMP (ISO 16684-1) and IPTC as in provenance.h, and Google Takeout's JSON. Where several of them
// hold the same fact, XMP wins over EXIF, and EXIF over IPTC. Lists are merged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/directory_entry.h"

namespace millrace {

// Texts are UTF-8 without control characters, trimmed, at most 2,000 bytes (descriptions 20,000).
struct PhotoMetadata {
  struct GeoPoint {
    double latitude = 0, longitude = 0;  // degrees, positive in the north and east
    bool operator==(const GeoPoint&) const = default;
  };

  int rating = 0;                             // 1 to 5 stars, -1 rejected, 0 none
  std::vector<std::string> keywords, people;  // at most 1,000 each; no duplicates, ignoring case
  std::vector<std::string> keyword_paths;     // keywords in a tree, "places|Bern"; same limits
  std::string title, description;             // in the default language if there are several, else in the first
  std::string label;                          // name of a colour
  std::string location, city, state, country;
  std::string creator, rights;  // several creators have "; " between them
  std::optional<GeoPoint> place;
  std::string taken;  // "2024-05-01T12:30:00", with a fraction and an offset where they are known

  // Facts that an XMP sidecar for another picture cannot hold.
  bool favourite = false;  // Google Takeout's mark
  bool developed = false;  // has settings of a RAW developer or of Apple's editor, for these very pixels
  bool cut = false;        // there is more than fits here
  std::string unparsed;    // the part that is not understood: "its date"; empty where there is none

  // True where it has none of the facts that a sidecar can hold.
  bool is_empty() const;
  // Adds the facts of `other` that are missing here: the words of lists, and every other field that is empty here.
  void add(const PhotoMetadata& other);
};

// Reads the very file that was inspected before, by a path without symbolic links. Whoever may replace the file
// meanwhile learns nothing about another file. Returns an Error where it is a different file, or cannot be opened or
// read.
Outcome<PhotoMetadata> read_metadata(const std::string& path, const FileState& file);
// Reads a sidecar's text. Returns an Error for anything but a regular file (also for a link), and for a file that is
// unreadable or over the limit.
inline constexpr std::uint64_t kMaxSidecarBytes = 1 << 20;
Outcome<std::string> read_sidecar_text(const std::string& path);
// Reads a sidecar by its extension: .xmp, .json, or a RAW developer's own, of which only the presence counts. Other
// extensions yield nothing. Returns an Error as read_sidecar_text() does, and for a file that is not what its extension
// says.
Outcome<PhotoMetadata> read_sidecar_metadata(const std::string& path);

// Facts of `from` that `of` lacks. Where both have different values, `of` wins, and `differing` lists the field
// ("rating 3, not 5"). `metadata.cut` is set where not all of it fits.
struct MissingMetadata {
  PhotoMetadata metadata;
  std::vector<std::string> differences;
};
MissingMetadata find_missing_metadata(const PhotoMetadata& of, const PhotoMetadata& from);

// Returns a summary such as "rating 5, title "T", keywords boat, GPS position"; empty for nothing.
std::string summarize_metadata(const PhotoMetadata& metadata);
// Writes an XMP packet with these properties: xmp:Rating, xmp:Label, dc:subject, lr:hierarchicalSubject, dc:title,
// dc:description, dc:creator, dc:rights, Iptc4xmpExt:PersonInImage, Iptc4xmpCore:Location, photoshop:City, State and
// Country, exif:GPS..., exif:DateTimeOriginal and photoshop:DateCreated. The same facts give the same text.
std::string make_xmp_sidecar(const PhotoMetadata& metadata);
// True for a text that begins as every sidecar by make_xmp_sidecar() does.
bool is_own_xmp_sidecar(std::string_view text);

}  // namespace millrace
