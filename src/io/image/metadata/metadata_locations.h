// Input: a picture file.
// Output: the locations of its EXIF, XMP and IPTC, a JPEG's quantisation tables, and texts beside them.
// Never: reads the picture itself.
//
// Searched locations of each format: JPEG: the segments before the first scan (EXIF, XMP but not extended XMP,
// Photoshop's resources, comments). PNG: the chunks before the pixels (eXIf; tEXt, and iTXt that is not compressed).
// WebP: the chunks EXIF and XMP. TIFF, and RAW files built like it (DNG, CR2, NEF, ARW, PEF, ORF, RW2): the file
// itself, with XMP and IPTC as fields. RAF: the metadata of its embedded JPEG. HEIF and AVIF: the items of the first
// meta box, and the first ICC profile. CR3 and JPEG XL: their boxes, unless compressed. JPEG 2000: its XMP. GIF, BMP,
// PNM, CRW, X3F and others: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/metadata/appended_data.h"
#include "src/io/image/metadata/byte_range.h"
#include "src/io/image/metadata/jpeg_tables.h"
#include "src/io/image/metadata/tiff_fields.h"
#include "src/io/image/picture.h"

namespace millrace {

// Readers use at most this many bytes of each, from its beginning.
inline constexpr std::uint64_t kMaxXmp = 1 << 20, kMaxIptc = 1 << 18;

struct ExifBlock {
  ByteRange block;
  TiffDirectory first = TiffDirectory::main;
};

// Metadata of a file. Ranges are ranges of that file.
struct MetadataLocations {
  ImageFormat format = ImageFormat::unknown;
  std::vector<ExifBlock> exif;
  std::optional<ByteRange> xmp;
  ByteRange iptc, resources;  // the IPTC datasets themselves, or Photoshop's resources that hold them
  std::optional<JpegTables> tables;
  JpegHead jpeg;
  std::vector<ByteRange> profile;                // ICC profile, in segments; for a PNG its chunk
  std::vector<ByteRange> videos;                 // videos inside a HEIF file
  std::vector<std::vector<ByteRange>> pictures;  // pictures of a HEIF file besides the one that is shown, each in its
                                                 // extents
  bool sequence = false;                         // HEIF file with tracks
  bool maker_note = false;                       // there is a maker note that is not a field of `exif`
  std::vector<std::string> comments;             // may name the program that wrote them; cut to kMaxTextBytes
  std::string software;                          // text of a PNG
  bool title = false, description = false;
};

MetadataLocations find_metadata(ByteRange file, std::string_view path);

// Finds the metadata in files that consist of boxes: HEIF, AVIF, CR3, JPEG XL, JPEG 2000.
void find_metadata_in_boxes(ByteRange file, MetadataLocations& locations);

}  // namespace millrace
