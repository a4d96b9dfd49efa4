// Input: parts of a picture from left to right: rows that one leg alone crosses, and small regions.
// Output: their pixels, row by row, from left to right.
// Never: used from outside this folder.
//
// Rows that the two straight sides of one leg cross, and nothing else touches, are most of a steep chart: their levels
// follow from where the left side is. All rows of a usual picture are computed at once, part by part, and listed by
// row; of a picture with too many of them, a strip of rows at a time.
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

class Parts {
 public:
  // Rows of parts that are listed at once, and the height of a strip where there are more.
  static constexpr std::size_t kMostAtOnce = 1 << 16;
  static constexpr int kStrip = 64;

  // Beside what grows with the number of points.
  static std::size_t memory_needed(int width, int height) {
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const std::size_t rows = std::min(pixels, std::max(kMostAtOnce, kStrip * static_cast<std::size_t>(width)));
    return rows * (sizeof(Pixels) + sizeof(TileRow) + sizeof(std::uint64_t)) + static_cast<std::size_t>(height) * 4;
  }

  // Rows [begin, end) of a leg; the left side crosses the top of the first one at x, `step` further right a row, and
  // the right side is `across` beside it.
  struct Slant {
    int begin, end;
    double x, step, across;
  };
  // In a row, a part lies left of those that are added later.
  void add(const Slant& slant) { parts_.push_back({slant, kNoTile}); }
  void add(const Tile& tile, std::span<const Corner> upper, std::span<const Corner> lower);

  // Rows are asked for from the top, each of them.
  void start(int height);
  // As of a TileRow. `levels` may be read up to kTileWidth. A count may be 0.
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
  // All of them are gone.
  void clear() {
    parts_.clear();
    tile_rows_used_ = 0;
  }

 private:
  static constexpr std::uint32_t kNoTile = ~std::uint32_t{0};
  struct Part {
    Slant slant;  // of a tile, only its rows
    std::uint32_t tile;
  };

  // Lists the next strip.
  void compute();
  // Adds a part's rows [begin, end) of the strip to the list.
  void list(int begin, int end, const TileRow* rows, const std::uint8_t* levels, std::size_t stride);

  std::vector<Part> parts_;
  int height_ = 0, strip_ = 0;
  int begin_ = 0, end_ = 0;  // of the strip that is listed
  Buffer<Pixels> pixels_;
  Buffer<std::uint32_t> ends_;  // in pixels_, of the row above each of the strip's and of the last one
  Buffer<TileRow> slant_rows_;
  Buffer<std::uint64_t> slant_levels_;
  std::size_t tile_rows_used_ = 0;
  Buffer<TileRow> tile_rows_;
  Buffer<std::uint8_t> tile_levels_;
};

}  // namespace millrace::stroke
