// Input: an XMP packet, out of a picture or from a sidecar.
// Output: what people and programs said in it about the picture.
// Never: fails: what is not found is absent. Names are known by the addresses that their prefixes stand for, and where
//   none is given by the prefixes that programs write ("xmp:", "dc:").
//
// XMP: ISO 16684-1; regions: the Metadata Working Group's guidelines 2.0 and Microsoft's schema; PersonInImage: IPTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// What is said in it, as it is written there.
struct XmpWords {
  // The lists of keywords that programs keep side by side, the branches of a tree with its names between "|" or "/";
  // and of persons.
  std::vector<std::string> subjects, branches, tags, persons, regions, faces;
  // In the default language where there are several, else in the first.
  std::string title, description, rights;
  std::string label, location, city, state, country;
  std::string creator;              // several with "; " between them
  std::string latitude, longitude;  // "52,30.5N"
  std::string taken, created;       // exif:DateTimeOriginal, photoshop:DateCreated
  // Something was too long or too many to be read here, or stands in another part of the file (extended XMP).
  bool cut = false;
  // It breaks off in the middle, or has declarations of its own: not all of it was understood.
  bool odd = false;
};

struct XmpFacts {
  std::string creator_tool, serial;
  std::optional<int> rating;   // -1 (rejected) to 5
  std::uint32_t keywords = 0;  // of the longest of the lists that programs keep side by side
  std::uint32_t people = 0;    // likewise: persons named, or regions with a person's name
  bool title = false, description = false, colour_label = false, gps = false;
  // Settings of a RAW developer that are not in the pixels; and that the history tells of an editor that changed these.
  bool developed = false, edited = false;
  bool packet = false;  // there is one
  XmpWords words;
};

XmpFacts read_xmp(std::string_view packet);

// "5", "-1", "4.0"; nothing for any other text.
std::optional<int> rating_of(std::string_view text);

}  // namespace millrace
