// Input: parts of an image from left to right: rows that only one leg crosses, and small regions.
// Output: their pixels, row by row, from left to right.
// Never: used from outside this folder.
//
// Most rows of a steep chart are crossed by the two straight sides of one leg and by no other edge. Their levels follow
// from the position of the left side. All rows of a usual image are computed at once, part by part, and listed by row.
// An image with more rows is computed in strips of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/stroke/stroke_rows.h"
#include "src/kernels/stroke/stroke_tile.h"
#include "src/memory/buffer.h"

namespace millrace::stroke {

class StrokeParts {
 public:
  // Maximum number of part rows that are listed at once, and the height of a strip if there are more.
  // docs/design/strokes.md gives the reasons for the constants of this file.
  static constexpr std::size_t kMaxAtOnce = 1 << 16;
  static constexpr int kStrip = 64;

  // Returns the memory besides that which grows with the number of points.
  static std::size_t memory_needed(int width, int height) {
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const std::size_t rows = std::min(pixels, std::max(kMaxAtOnce, kStrip * static_cast<std::size_t>(width)));
    return rows * (sizeof(Pixels) + sizeof(TileRow) + sizeof(std::uint64_t)) + static_cast<std::size_t>(height) * 4;
  }

  // Rows [begin, end) of a leg. The left side crosses the top of the first row at x, and moves `step` to the right per
  // row. The right side is `across` to the right of it.
  struct Slant {
    int begin, end;
    double x, step, across;
  };
  // Adds a part; in a row, a part must lie left of those added later.
  void add(const Slant& slant) { parts_.push_back({slant, kNoTile}); }
  void add(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower);

  // Prepares for row(), which must be called for each row, from the top.
  void start(int height);
  // Pixels of a row, as in TileRow. `levels` may be read up to kTileWidth. The count may be 0.
  struct Pixels {
    std::int32_t x;
    std::int16_t count;
    bool apart;
    const std::uint8_t* levels;
  };
  std::span<const Pixels> row(int y) {
    if (y == end_) compute();
    const auto k = static_cast<std::size_t>(y - begin_);
    return {pixels_.data() + ends_[k], pixels_.data() + ends_[k + 1]};
  }
  // Removes all parts.
  void clear() {
    parts_.clear();
    tile_rows_used_ = 0;
  }

 private:
  static constexpr std::uint32_t kNoTile = ~std::uint32_t{0};
  struct Part {
    Slant slant;  // for a tile only its rows are set
    std::uint32_t tile;
  };

  // Computes and lists the next strip.
  void compute();
  // Adds a part's rows [begin, end) of the strip to the list.
  void list(int begin, int end, const TileRow* rows, const std::uint8_t* levels, std::size_t stride);

  std::vector<Part> parts_;
  int height_ = 0, strip_ = 0;
  int begin_ = 0, end_ = 0;  // rows of the listed strip
  Buffer<Pixels> pixels_;
  Buffer<std::uint32_t> ends_;  // end indices in pixels_: of the row above the strip, and of each of its rows
  Buffer<TileRow> slant_rows_;
  Buffer<std::uint64_t> slant_levels_;
  std::size_t tile_rows_used_ = 0;
  Buffer<TileRow> tile_rows_;
  Buffer<std::uint8_t> tile_levels_;
};

}  // namespace millrace::stroke
