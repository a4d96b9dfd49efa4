// Input: an open WebP or TIFF file.
// Output: the header fields that decide how much memory or time libvips will take.
// Never: fails. A field that cannot be read is zero.
#pragma once

#include <cstdint>

namespace millrace::helper {

struct WebpGeometry {
  int width = 0, height = 0;
  bool lossless = false;  // lossless, and not an animation: only then are its pixels defined
};

WebpGeometry read_webp_geometry(int fd);

// Tags of a TIFF's first picture, by their names. A tag that is absent has the default below.
struct TiffGeometry {
  std::uint64_t width = 0, height = 0, bits = 1, compression = 1, photometric = 0, orientation = 1, samples = 1;
  std::uint64_t rows_per_strip = 0, strips = 1, planar = 1, tile_rows = 0, extra_samples = 0;
  bool has_orientation = false, has_xmp = false;

  // Number of rows that are stored as one strip or tile.
  std::uint64_t rows_per_block() const;
  // True for separate planes of gray and alpha, which libvips 8.14 confuses from the second row on.
  bool has_gray_alpha_planes() const { return planar == 2 && samples == 2; }
  // True where libvips reads the file as Pillow does, whose pixel hashes are compared with ours. The two differ on
  // premultiplied alpha, 16-bit samples that count down from white, uncompressed 16-bit planes, and a fourth plane not
  // marked as alpha. They also differ where Pillow rotates a memory-mapped picture of one strip, and where only XMP may
  // state the orientation.
  bool matches_pillow() const;
};
TiffGeometry read_tiff_geometry(int fd);

}  // namespace millrace::helper
