// Input: texts that cameras and programs write into pictures.
// Output: whether they name an editing program, or contain no description by a person.
// Never: knows every program. A name that is not in its list does not count as an editor's.
#pragma once

#include <string_view>

namespace millrace {

// True for a program that re-encodes or changes pictures: Photoshop, GIMP, Picasa, a RAW developer, Instagram. False
// for the firmware of cameras and phones ("Ver.1.00", "14.4.2", "HDR+ 1.0.345618096zd"). Also false for programs that
// are known to write only the texts about a picture (ExifTool, Photo Mechanic, Adobe Bridge).
bool is_editor_name(std::string_view software);

// True for a description that is blank, or that a camera or program writes into each picture: "OLYMPUS DIGITAL CAMERA".
bool is_default_description(std::string_view description);

}  // namespace millrace
