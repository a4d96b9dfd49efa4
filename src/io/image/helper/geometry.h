// Enters: an open WebP, TIFF or PNM file.
// Leaves: what its header says that decides how much memory or time libvips will take.
// Never: fails: what cannot be read is zero.
#pragma once

#include <cstdint>

namespace millrace::helper {

struct WebpGeometry {
  int width = 0, height = 0;
  bool lossless = false;  // one lossless picture: only then are its pixels defined
};

WebpGeometry webp_geometry(int fd);

// Rows that a TIFF's first picture stores as one piece: of a strip or of a tile.
std::uint64_t tiff_rows_together(int fd);

// False for a PNM in text that is shorter than its samples: its loader takes seconds for each megapixel that is not
// there, and gives a picture. True for every other file.
bool may_hold_its_samples(int fd);

}  // namespace millrace::helper
