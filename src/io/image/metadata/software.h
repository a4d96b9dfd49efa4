// Input: texts that cameras and programs put into pictures.
// Output: whether they name a program that edits, or say nothing at all.
// Never: knows every program: a name that is not known here is not an editor's.
#pragma once

#include <string_view>

namespace millrace {

// A program that writes pictures anew, or changes them: Photoshop, GIMP, Picasa, a RAW developer, Instagram. The
// firmware of cameras and telephones ("Ver.1.00", "14.4.2", "HDR+ 1.0.345618096zd") is none; nor are programs that are
// known to write the texts about a picture and not the picture (ExifTool, Photo Mechanic, Adobe Bridge).
bool names_editor(std::string_view software);

// A description that is blank, or that a camera or a program puts into each of its pictures: "OLYMPUS DIGITAL CAMERA".
bool says_nothing(std::string_view description);

}  // namespace millrace
