// Input: the edges of a small region: a joint, and its surroundings.
// Output: the region's pixels.
// Never: used from outside this folder.
//
// An edge adds the area to its right to the pixels of the rows that it crosses, all pixels of a row at once. There are
// no cells, and no branches on the number of touched pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::stroke {

// A corner of an outline, in 1/65536 of a pixel from the image's upper left corner.
struct Corner {
  std::int32_t x, y;
};

// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kTileWidth = 32, kTileHeight = 64;

// A row of pixels from x on, whose levels follow `skipped` others. If `apart` is false, the first and the last pixel
// are foreground, and no gap between is longer than rle::kMaxGap.
struct TileRow {
  std::int32_t x;
  std::int16_t count;
  std::int8_t skipped;
  bool apart;
};

// Computes the region between two lines of corners from left to right, one above the other, which end in the same rows.
// It lies in `width` pixels and `rows` rows from (left, top) on, but may extend above and below. Rows without
// foreground have a count of 0. Each row has kTileWidth levels, of which those outside the count are undefined. Only
// IEEE 754 single floats are used: the results are the same at every CPU level.
struct PixelTile {
  int left, top, width, rows;
};
void tile_rows(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower, TileRow* rows,
               std::uint8_t* levels);

}  // namespace millrace::stroke
