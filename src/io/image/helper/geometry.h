// Input: an open WebP or TIFF file.
// Output: what its header says that decides how much memory or time libvips will take.
// Never: fails: what cannot be read is zero.
#pragma once

#include <cstdint>

namespace millrace::helper {

struct WebpGeometry {
  int width = 0, height = 0;
  bool lossless = false;  // one lossless picture: only then are its pixels defined
};

WebpGeometry webp_geometry(int fd);

// What a TIFF says of its first picture, by the names of its tags; 0 where it says nothing.
struct TiffGeometry {
  std::uint64_t width = 0, height = 0, bits = 1, compression = 1, photometric = 0, orientation = 1, samples = 1;
  std::uint64_t rows_per_strip = 0, strips = 1, planar = 1, tile_rows = 0, extra_samples = 0;
  bool says_orientation = false, has_xmp = false;

  // Rows that are stored as one piece, of a strip or of a tile.
  std::uint64_t rows_together() const;
  // Planes of gray and of alpha: libvips 8.14 takes one for the other from the second row on.
  bool mixes_planes() const { return planar == 2 && samples == 2; }
  // Pillow, whose pixels hashes are compared with, and libvips read it alike. They do not where alpha was multiplied
  // in, where 16 bits count down from white, where 16-bit planes are not compressed, where a fourth plane is not said
  // to be alpha, where Pillow turns a mapped picture of one strip, and where XMP alone may say how it is turned.
  bool read_alike() const;
};
TiffGeometry tiff_geometry(int fd);

}  // namespace millrace::helper
