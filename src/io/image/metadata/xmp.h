// Input: an XMP packet from a picture or a sidecar file.
// Output: the facts that people and programs wrote into it about the picture.
// Never: fails. A fact that is not found is absent. Names are recognised by the namespace of their prefix, or by the
// usual prefixes ("xmp:", "dc:") where no namespace is declared.
//
// Standards: ISO 16684-1 for XMP; the Metadata Working Group's guidelines 2.0 and Microsoft's schema for regions; IPTC
// for PersonInImage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// Texts of a packet, as they are written there.
struct XmpWords {
  // Lists of keywords that programs keep in parallel: plain ones, and paths in a tree with "|" or "/" between the
  // names. Then lists of persons.
  std::vector<std::string> subjects, keyword_paths, tags, persons, regions, faces;
  // Texts in the default language where there are several languages, else in the first.
  std::string title, description, rights;
  std::string label, location, city, state, country;
  std::string creator;              // several creators have "; " between them
  std::string latitude, longitude;  // "52,30.5N"
  std::string taken, created;       // exif:DateTimeOriginal, photoshop:DateCreated
  // Some text or list was too long to be read here, or is in another part of the file (extended XMP).
  bool cut = false;
  // True where not all was understood: the packet is incomplete, declares entities or a document type, or has an
  // invalid rating.
  bool unparsed = false;
};

struct XmpFacts {
  std::string creator_tool, serial;
  std::optional<int> rating;   // -1 (rejected) to 5
  std::uint32_t keywords = 0;  // length of the longest of the parallel lists
  std::uint32_t people = 0;    // likewise: persons named, or regions with a person's name
  bool title = false, description = false, colour_label = false, gps = false;
  // developed: it has settings of a RAW developer that are not applied to the pixels. edited: the history names an
  // editor that changed the pixels, or such settings are applied already.
  bool developed = false, edited = false;
  bool packet = false;  // the text contains a packet
  XmpWords words;
};

XmpFacts read_xmp(std::string_view packet);

// Converts "5", "-1" or "4.0"; nothing for any other text.
std::optional<int> parse_rating(std::string_view text);

}  // namespace millrace
