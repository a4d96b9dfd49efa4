// Input: a file that programs put beside a picture, and the provenance of that picture.
// Output: the provenance with what the sidecar says added.
// Never: decides whose sidecar a file is; reads more than 1 MiB of one; fails: what cannot be read adds nothing.
#pragma once

#include <string>
#include <string_view>

#include "src/io/image/provenance.h"

namespace millrace {

// By the file's extension:
//   .xmp                   rating, which replaces the picture's; keywords, people, title, description, label, place; a
//                          RAW developer's settings (`developed`)
//   .json                  Google Takeout's: description, place, people, favourite. Its title is the file's name.
//   .aae .pp3 .dop .on1    Apple's edits, RawTherapee's, DxO's and ON1's settings: `developed`, by being there
// Others add nothing. A program that is named in a sidecar has not written the picture: software and edited_by_program
// stay as they are.
void add_sidecar(const std::string& path, Provenance& to);
// The last row's.
bool is_settings_sidecar(std::string_view path);

// The same of a packet of XMP and of a Takeout file's text, in memory.
void add_sidecar_xmp(std::string_view packet, Provenance& to);
void add_takeout_json(std::string_view text, Provenance& to);

}  // namespace millrace
