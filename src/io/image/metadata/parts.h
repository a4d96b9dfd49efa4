// Input: a picture file.
// Output: where in it its EXIF, its XMP and its IPTC stand; a JPEG's tables; and what is said beside them.
// Never: reads the picture itself.
//
// JPEG: the segments before the first scan (EXIF, XMP but not extended XMP, Photoshop's resources, comments). PNG: the
// chunks before the pixels (eXIf; tEXt, and iTXt that is not compressed). WebP: the chunks EXIF and XMP. TIFF, and RAW
// files that are built like it (DNG, CR2, NEF, ARW, PEF, ORF, RW2): the file itself, with XMP and IPTC as its fields.
// RAF: what its embedded JPEG says. HEIF and AVIF: the items of its first meta box, and the first profile of colours.
// CR3 and JPEG XL: their boxes, unless compressed. JPEG 2000: its XMP. GIF, BMP, PNM, CRW, X3F and others: nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/image/metadata/appended.h"
#include "src/io/image/metadata/byte_range.h"
#include "src/io/image/metadata/jpeg_tables.h"
#include "src/io/image/metadata/tiff_fields.h"
#include "src/io/image/picture.h"

namespace millrace {

// Readers take at most these many bytes of each, from its beginning.
inline constexpr std::uint64_t kMaxXmp = 1 << 20, kMaxIptc = 1 << 18;

struct ExifPart {
  ByteRange block;
  TiffDirectory first = TiffDirectory::main;
};

// The ranges are the file's own.
struct MetadataParts {
  ImageFormat format = ImageFormat::unknown;
  std::vector<ExifPart> exif;
  std::optional<ByteRange> xmp;
  ByteRange iptc, resources;  // the datasets themselves, or Photoshop's resources that hold them
  std::optional<JpegTables> tables;
  JpegHead jpeg;
  std::vector<ByteRange> profile;                // of colours, in pieces; of a PNG the chunk
  std::vector<ByteRange> films;                  // of a HEIF file's
  std::vector<std::vector<ByteRange>> pictures;  // likewise, besides the one that is shown: each in its pieces
  bool sequence = false;                         // a HEIF file with tracks
  bool maker_note = false;                       // one that is not a field of `exif`
  std::vector<std::string> comments;             // which programs sign; cut to kLongestText
  std::string software;                          // PNG's text
  bool title = false, description = false;
};

MetadataParts find_parts(ByteRange file, std::string_view path);

// Of files made of boxes: HEIF, AVIF, CR3, JPEG XL, JPEG 2000.
void find_parts_in_boxes(ByteRange file, MetadataParts& parts);

}  // namespace millrace
