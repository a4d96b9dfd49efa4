// Input: a file that programs put beside a picture, and the provenance of that picture.
// Output: the provenance with the sidecar's facts added.
// Never: decides to which picture a sidecar belongs; reads more than 1 MiB of one; fails. A sidecar that cannot be read
// adds nothing.
#pragma once

#include <string>
#include <string_view>

#include "src/io/image/provenance.h"

namespace millrace {

// Adds facts by the file's extension:
//   .xmp                   rating, which replaces the picture's; keywords, people, title, description, label, place; a
//                          RAW developer's settings (`developed`)
//   .json                  Google Takeout's: description, place, people, favourite. Its title is the file's name.
//   .aae .pp3 .dop .on1    Apple's edits, RawTherapee's, DxO's and ON1's settings: `developed`, by their presence
// Other extensions add nothing. A program that a sidecar names has not written the picture, so software and
// edited_by_program are unchanged.
void add_sidecar_facts(const std::string& path, Provenance& to);
// True for an extension in the last row.
bool is_settings_sidecar(std::string_view path);

// These add the facts of an XMP packet and of a Takeout file's text in memory.
void add_sidecar_xmp(std::string_view packet, Provenance& to);
void add_takeout_json(std::string_view text, Provenance& to);

}  // namespace millrace
