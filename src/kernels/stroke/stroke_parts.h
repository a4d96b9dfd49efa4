// Enters: parts of a picture from left to right: rows that one leg alone crosses, and small regions.
// Leaves: their pixels, row by row, from left to right.
// Never: used from outside this folder.
//
// Rows that the two straight sides of one leg cross, and nothing else touches, are most of a steep chart: their levels
// follow from where the left side is. They are computed some rows at a time, when the sweep reaches them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "src/kernels/stroke/stroke_rows.h"
#include "src/kernels/stroke/stroke_tile.h"
#include "src/memory/buffer.h"

namespace millrace::stroke {

class Parts {
 public:
  // Rows [begin, end) of a leg; the left side crosses the top of the first one at x, `step` further right a row, and
  // the right side is `across` beside it.
  struct Slant {
    int begin, end;
    double x, step, across;
  };
  // In a row, a part lies left of those that are added later.
  void add(const Slant& slant) { parts_.push_back({slant, kNoTile}); }
  void add(const Tile& tile, std::span<const Corner> upper, std::span<const Corner> lower);

  // Rows are asked for from the top.
  void start(int height);
  void move_to(int row) {
    if (row == next_event_) change(row);
  }
  // `levels` may be read up to kTileWidth.
  struct Pixels {
    int x, count;
    const std::uint8_t* levels;
  };
  std::size_t count() const { return shown_.size(); }
  Pixels at(std::size_t i, int row) const {
    const Shown& shown = shown_[i];
    const auto k = static_cast<std::size_t>(row - shown.begin);
    return {shown.rows[k].x, shown.rows[k].count, shown.levels + k * shown.stride};
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
  // A part that has the row, and which of its rows are computed.
  struct Shown {
    std::uint32_t part, place;
    int begin, end;
    const TileRow* rows;
    const std::uint8_t* levels;
    std::size_t stride;
  };

  void change(int row);
  void compute(Shown& shown, int row);

  std::vector<Part> parts_;
  std::vector<std::uint32_t> order_;  // by the first row
  std::vector<std::uint32_t> starts_;
  std::size_t next_ = 0;  // of order_
  int next_event_ = -1;
  std::vector<Shown> shown_;  // from left to right
  std::vector<std::unique_ptr<SlantRows>> slant_rows_;
  std::vector<std::uint32_t> free_;  // of slant_rows_
  std::size_t tile_rows_used_ = 0;
  Buffer<TileRow> tile_rows_;
  Buffer<std::uint8_t> tile_levels_;
};

}  // namespace millrace::stroke
