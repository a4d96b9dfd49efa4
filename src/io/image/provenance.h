// Input: a picture file.
// Output: its metadata about its origin: camera, time of exposure, programs, facts given by people, JPEG's tables.
// Never: decodes the picture; trusts the metadata beyond their syntax; fails on damaged metadata, which count as
// absent.
//
// metadata/metadata_locations.h lists the metadata of each format. Names and numbers are those of EXIF 3.0 (CIPA
// DC-008), XMP (ISO 16684-1) and IPTC. Where several sources state the same fact, EXIF wins, except for the rating,
// which programs change in XMP. Of lists the longest counts; a flag is true if any source sets it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/file/file_reader.h"
#include "src/io/image/extra_data.h"
#include "src/io/image/metadata/tiff_fields.h"
#include "src/io/image/srgb_converter.h"

namespace millrace {

struct Provenance {
  // Camera: Make, Model, BodySerialNumber (or DNG's CameraSerialNumber, or XMP's). Texts are bytes as they are written,
  // trimmed, at most 1,024; escape_unprintable() makes them safe to display.
  std::string make, model, serial;
  bool maker_note = false;  // the camera's own notes, which most programs drop
  std::string software;     // EXIF's Software, else XMP's CreatorTool, else PNG's text
  // True where one of those, a comment or the history names an editing program (metadata/editing_software.h). It is a
  // hint, no proof: digiKam also signs pictures that it only tags, where no camera has signed.
  bool edited_by_program = false;

  // Time of exposure: DateTimeOriginal, SubSecTimeOriginal, OffsetTimeOriginal, as written, trimmed.
  std::string taken, subsecond, offset;
  Rational exposure_time, f_number, exposure_bias;  // seconds, f-number, EV; as written, unknown without a denominator
  std::uint32_t iso = 0;                            // 0 where absent
  // Width and height that EXIF states, before any rotation; 0 where absent. Programs that scale often leave them
  // unchanged.
  std::uint32_t exif_width = 0, exif_height = 0;

  // Facts given by people.
  int rating = 0;              // 1 to 5 stars, -1 rejected, 0 none
  std::uint32_t keywords = 0;  // length of the longest list
  std::uint32_t people = 0;    // persons named, or faces with names
  bool title = false;
  bool description = false;  // other than texts that a camera writes into every picture
  bool gps = false;          // latitude and longitude are present
  bool colour_label = false;
  bool favourite = false;  // from a sidecar file only
  bool developed = false;  // has settings of a RAW developer that are not in the pixels

  // Quantisation tables of a JPEG.
  std::uint8_t jpeg_quality = 0;   // 1 to 100 where the tables are those of libjpeg at that quality, else 0
  bool has_custom_tables = false;  // they are not libjpeg's at any quality: a camera's or an editor's
  std::uint64_t tables = 0;        // their hash; 0 without any

  std::vector<ExtraData> extra_data;  // further data besides the picture
};

// Limit on the bytes that are read from a file; an ordinary one needs some tens of KiB.
inline constexpr std::uint64_t kMaxMetadataBytes = 16 << 20;

// Returns an Error where the file cannot be opened or read. For a file that is no picture, the Provenance is empty.
Outcome<Provenance> read_provenance(const std::string& path);
// Reads from the file's beginning, whatever the reader's position, and leaves the position unchanged.
Outcome<Provenance> read_provenance(FileReader& file);

// Reads the ICC profile; nothing for a file without one, or with a profile of another kind. Returns an Error as above.
Outcome<std::optional<SrgbConverter>> read_color_profile(const std::string& path);

// Adds the facts given by people, from XMP that belongs to the picture. Its rating replaces the one before.
struct XmpFacts;
void add_xmp_facts(const XmpFacts& facts, Provenance& to);

}  // namespace millrace
