#include "src/kernels/stroke/stroke_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::stroke {

void Parts::add(const Tile& tile, std::span<const Corner> upper, std::span<const Corner> lower) {
  const std::size_t at = tile_rows_used_;
  tile_rows_used_ += static_cast<std::size_t>(tile.rows);
  tile_rows_.grow(tile_rows_used_, at);
  tile_levels_.grow(tile_rows_used_ * kTileWidth, at * kTileWidth);
  tile_rows(tile, upper, lower, tile_rows_.data() + at, tile_levels_.data() + at * kTileWidth);
  parts_.push_back({{tile.top, tile.top + tile.rows, 0, 0, 0}, static_cast<std::uint32_t>(at)});
}

void Parts::start(int height) {
  // Counted by the first row.
  starts_.assign(static_cast<std::size_t>(height) + 1, 0);
  for (const Part& part : parts_) ++starts_[static_cast<std::size_t>(part.slant.begin)];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : starts_) count = std::exchange(sum, sum + count);
  order_.resize(parts_.size());
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    order_[starts_[static_cast<std::size_t>(parts_[i].slant.begin)]++] = i;
  }
  next_ = 0;
  shown_.clear();
  free_.resize(slant_rows_.size());
  for (std::uint32_t i = 0; i < free_.size(); ++i) free_[i] = i;
  next_event_ = order_.empty() ? -1 : parts_[order_[0]].slant.begin;
}

void Parts::compute(Shown& shown, int row) {
  const Slant& slant = parts_[shown.part].slant;
  SlantRows& rows = *slant_rows_[shown.place];
  shown.begin = row;
  shown.end = std::min(slant.end, row + kSlantRows);
  shown.rows = rows.rows.data();
  shown.levels = reinterpret_cast<const std::uint8_t*>(rows.levels.data());
  shown.stride = kSlantPixels;
  slant_rows(slant.x + static_cast<double>(row - slant.begin) * slant.step, slant.step, slant.across, shown.end - row,
             rows);
}

void Parts::change(int row) {
  int next_event = std::numeric_limits<int>::max();
  bool ended = false;
  for (Shown& shown : shown_) {
    if (shown.end == row) {
      if (parts_[shown.part].slant.end > row) {
        compute(shown, row);
      } else {
        if (parts_[shown.part].tile == kNoTile) free_.push_back(shown.place);
        ended = true;
        continue;
      }
    }
    next_event = std::min(next_event, shown.end);
  }
  if (ended) std::erase_if(shown_, [row](const Shown& shown) { return shown.end == row; });
  for (; next_ < order_.size() && parts_[order_[next_]].slant.begin == row; ++next_) {
    Shown fresh{order_[next_], 0, row, 0, nullptr, nullptr, kTileWidth};
    const Part& part = parts_[fresh.part];
    if (part.tile == kNoTile) {
      if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(slant_rows_.size()));
        slant_rows_.push_back(std::make_unique<SlantRows>());
      }
      fresh.place = free_.back();
      free_.pop_back();
      compute(fresh, row);
    } else {
      fresh.end = part.slant.end;
      fresh.rows = tile_rows_.data() + part.tile;
      fresh.levels = tile_levels_.data() + std::size_t{part.tile} * kTileWidth;
    }
    next_event = std::min(next_event, fresh.end);
    std::size_t at = shown_.size();
    shown_.push_back(fresh);
    for (; at > 0 && shown_[at - 1].part > fresh.part; --at) shown_[at] = shown_[at - 1];
    shown_[at] = fresh;
  }
  if (next_ < order_.size()) next_event = std::min(next_event, parts_[order_[next_]].slant.begin);
  next_event_ = next_event;
}

}  // namespace millrace::stroke
