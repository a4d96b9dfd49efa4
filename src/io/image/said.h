// Enters: a picture file, and the sidecars that belong to it.
// Leaves: what people said of it, in their own words; and the same as an XMP sidecar.
// Never: fails at what is damaged: that is absent. Writes a file.
//
// Where it is read: EXIF 3.0, XMP (ISO 16684-1) and IPTC as in provenance.h, and Google Takeout's JSON. Where several
// places say the same, XMP comes before EXIF and EXIF before IPTC; of lists, all there is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"

namespace millrace {

// Texts are UTF-8 without control characters, trimmed, at most 2,000 bytes (descriptions 20,000).
struct Said {
  struct Place {
    double latitude = 0, longitude = 0;  // degrees, north and east
    bool operator==(const Place&) const = default;
  };

  int rating = 0;                             // 1 to 5 stars, -1 rejected, 0 none
  std::vector<std::string> keywords, people;  // at most 1,000 each; none twice, whatever its case
  std::string title, description;
  std::optional<Place> place;
  std::string taken;  // "2024-05-01T12:30:00", with a fraction and an offset where they are known

  bool nothing() const;
  // What `other` says and this does not, added: a list's words, each other where there is none.
  void add(const Said& other);
};

// An Error where the file cannot be opened or read.
Outcome<Said> said_of(const std::string& path);
// Of a sidecar, by its extension (.xmp, .json); of another, or of one that cannot be read, nothing.
Said said_by_sidecar(const std::string& path);

// What `of` lacks of what `from` says. Of what both say differently, `of` is right: `differing` names it ("rating 3,
// not 5").
struct Lacking {
  Said said;
  std::vector<std::string> differing;
};
Lacking lacking(const Said& of, const Said& from);

// "rating 5, title, 3 keywords, place"; empty for nothing.
std::string words_of(const Said& said);
// A packet of XMP that says it: xmp:Rating, dc:subject, dc:title, dc:description, Iptc4xmpExt:PersonInImage,
// exif:GPS..., exif:DateTimeOriginal and photoshop:DateCreated. The same text for the same words.
std::string xmp_sidecar(const Said& said);

}  // namespace millrace
