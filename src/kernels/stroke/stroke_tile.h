// Input: the edges of a small region: a joint, and what is near it.
// Output: the region's pixels.
// Never: used from outside this folder.
//
// An edge adds the area to the right of it to the pixels of the rows that it crosses, all pixels of a row at once: no
// cells, no branches on how many pixels it touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::stroke {

// A corner of an outline, in 1/65536 of a pixel from the picture's left upper corner.
struct Corner {
  std::int32_t x, y;
};

inline constexpr int kTileWidth = 32, kTileHeight = 64;

// A row of pixels from x on, whose levels come after `skipped` others. Where they are not `apart`, the first and the
// last of them have ink, and no gap between is longer than rle::kLongestGap.
struct TileRow {
  std::int32_t x;
  std::int16_t count;
  std::int8_t skipped;
  bool apart;
};

// The region between two lines of corners from left to right, one above the other, which end in the same rows. It lies
// in `width` pixels and `rows` rows from (left, top) on, but may reach beyond the upper and the lower end. Rows without
// ink have a count of 0. kTileWidth levels a row, those left out are anything. IEEE 754 single floats: the same at
// every CPU level.
struct Tile {
  int left, top, width, rows;
};
void tile_rows(const Tile& tile, std::span<const Corner> upper, std::span<const Corner> lower, TileRow* rows,
               std::uint8_t* levels);

}  // namespace millrace::stroke
