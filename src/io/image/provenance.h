// Input: a picture file.
// Output: what it says about its origin: camera, press of the shutter, programs, what people gave it, JPEG's tables.
// Never: decodes the picture; believes what it reads beyond its form; fails at what is damaged: that is absent.
//
// Which files say what: metadata/parts.h. Names and numbers are EXIF 3.0's (CIPA DC-008), XMP's (ISO 16684-1), IPTC's.
// Where several places say the same, EXIF comes first, but for the rating, which programs change in XMP; of lists and
// of yes or no, the most counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/reader.h"
#include "src/io/image/holding.h"
#include "src/io/image/metadata/tiff_fields.h"
#include "src/io/image/to_srgb.h"

namespace millrace {

struct Provenance {
  // The camera: Make, Model, BodySerialNumber (or DNG's CameraSerialNumber, or XMP's). Texts are bytes as they are
  // written, trimmed, at most 1,024; printable() makes them fit to be shown.
  std::string make, model, serial;
  bool maker_note = false;  // the camera's own notes, which programs mostly drop
  std::string software;     // EXIF's Software, else XMP's CreatorTool, else PNG's text
  // One of those, a comment or the history names a program that edits (metadata/software.h). digiKam signs also what it
  // only tags, where no camera did: this is a sign, no proof.
  bool edited_by_program = false;

  // The press of the shutter: DateTimeOriginal, SubSecTimeOriginal, OffsetTimeOriginal, as written, trimmed.
  std::string taken, subsecond, offset;
  Rational exposure_time, f_number, exposure_bias;  // seconds, EV; as written, unknown without a denominator
  std::uint32_t iso = 0;                            // 0 where absent
  // The sides that EXIF says the picture has, before any turning; 0 where absent. Programs that scale often leave them.
  std::uint32_t told_width = 0, told_height = 0;

  // What people gave it.
  int rating = 0;              // 1 to 5 stars, -1 rejected, 0 none
  std::uint32_t keywords = 0;  // of the longest list
  std::uint32_t people = 0;    // persons named, or faces with names
  bool title = false;
  bool description = false;  // not what a camera writes into every picture
  bool gps = false;          // latitude and longitude are there
  bool colour_label = false;
  bool favourite = false;  // from a sidecar only
  bool developed = false;  // a RAW developer's settings that are not in the pixels

  // JPEG's quantisation.
  std::uint8_t jpeg_quality = 0;  // 1 to 100 where the tables are those of libjpeg at that quality, else 0
  bool own_tables = false;        // they are not libjpeg's at any quality: a camera's or an editor's
  std::uint64_t tables = 0;       // their hash; 0 without any

  std::vector<Holding> holdings;  // besides the picture
};

// At most so much of a file is read; of an ordinary one some tens of KiB.
inline constexpr std::uint64_t kMostMetadataRead = 16 << 20;

// An Error where the file cannot be opened or read; of one that is no picture, a Provenance that says nothing.
Outcome<Provenance> provenance_of(const std::string& path);
// From the file's beginning, wherever the reader stands; the reader stays there.
Outcome<Provenance> provenance_of(FileReader& file);

// What its profile of colours says; nothing for a file without one, or with one of another kind. An Error as above.
Outcome<std::optional<ToSrgb>> colours_of(const std::string& path);

// What people gave, of XMP that belongs to the picture. Its rating replaces the one before.
struct XmpFacts;
void add_said(const XmpFacts& facts, Provenance& to);

}  // namespace millrace
