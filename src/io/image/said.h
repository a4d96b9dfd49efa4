// Input: a picture file, and the sidecars that belong to it.
// Output: what people said of it, in their own words; and the same as an XMP sidecar.
// Never: fails at what is damaged in a picture: that is absent. Keeps quiet about what does not fit here. Writes a
// file.
//
// Where it is read: EXIF 3.0, XMP (ISO 16684-1) and IPTC as in provenance.h, and Google Takeout's JSON. Where several
// places say the same, XMP comes before EXIF and EXIF before IPTC; of lists, all there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/place.h"

namespace millrace {

// Texts are UTF-8 without control characters, trimmed, at most 2,000 bytes (descriptions 20,000).
struct Said {
  struct Place {
    double latitude = 0, longitude = 0;  // degrees, north and east
    bool operator==(const Place&) const = default;
  };

  int rating = 0;                             // 1 to 5 stars, -1 rejected, 0 none
  std::vector<std::string> keywords, people;  // at most 1,000 each; none twice, whatever its case
  std::vector<std::string> branches;          // keywords in a tree, "places|Bern"; likewise
  std::string title, description;             // of several languages the default one, else the first
  std::string label;                          // a colour's name
  std::string location, city, state, country;
  std::string creator, rights;  // several creators with "; " between them
  std::optional<Place> place;
  std::string taken;  // "2024-05-01T12:30:00", with a fraction and an offset where they are known

  // What an XMP sidecar for another picture cannot say.
  bool favourite = false;  // Google Takeout's mark
  bool developed = false;  // settings of a RAW developer or of Apple's editor, for these very pixels
  bool cut = false;        // there is more than fits here
  std::string odd;         // what of it is not understood: "its date"; empty: nothing

  // But for what no sidecar can say.
  bool nothing() const;
  // What `other` says and this does not, added: a list's words, each other where there is none.
  void add(const Said& other);
};

// Of the very file that was looked at before, by a path without links: whoever may exchange it meanwhile learns nothing
// of another. An Error where it is not that file, or cannot be opened or read.
Outcome<Said> said_of(const std::string& path, const FileState& file);
// The text of a sidecar. An Error for what is no regular file (a link neither), cannot be read or is larger.
inline constexpr std::uint64_t kLongestSidecar = 1 << 20;
Outcome<std::string> text_of_sidecar(const std::string& path);
// Of a sidecar, by its extension (.xmp, .json; of a RAW developer's own, that it is one); of another, nothing. An Error
// as of its text, and for one that is not what its extension says.
Outcome<Said> said_by_sidecar(const std::string& path);

// What `of` lacks of what `from` says. Of what both say differently, `of` is right: `differing` names it ("rating 3,
// not 5"). `said.cut` where all of it would not fit.
struct Lacking {
  Said said;
  std::vector<std::string> differing;
};
Lacking lacking(const Said& of, const Said& from);

// "rating 5, title, 3 keywords, place"; empty for nothing.
std::string words_of(const Said& said);
// A packet of XMP that says it: xmp:Rating, xmp:Label, dc:subject, lr:hierarchicalSubject, dc:title, dc:description,
// dc:creator, dc:rights, Iptc4xmpExt:PersonInImage, Iptc4xmpCore:Location, photoshop:City, State and Country,
// exif:GPS..., exif:DateTimeOriginal and photoshop:DateCreated. The same text for the same words.
std::string xmp_sidecar(const Said& said);
// Whether a text begins as each of those.
bool is_xmp_sidecar_of_ours(std::string_view text);

}  // namespace millrace
