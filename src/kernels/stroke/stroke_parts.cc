#include "src/kernels/stroke/stroke_parts.h"

#include <algorithm>
#include <utility>

namespace millrace::stroke {

void StrokeParts::add(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower) {
  const std::size_t at = tile_rows_used_;
  tile_rows_used_ += static_cast<std::size_t>(tile.rows);
  tile_rows_.grow(tile_rows_used_, at);
  tile_levels_.grow((tile_rows_used_ + 1) * kTileWidth, at * kTileWidth);
  tile_rows(tile, upper, lower, tile_rows_.data() + at, tile_levels_.data() + at * kTileWidth);
  parts_.push_back({{tile.top, tile.top + tile.rows, 0, 0, 0}, static_cast<std::uint32_t>(at)});
}

void StrokeParts::start(int height) {
  std::size_t rows = 0;
  for (const Part& part : parts_) rows += static_cast<std::size_t>(part.slant.end - part.slant.begin);
  height_ = height;
  strip_ = rows <= kMaxAtOnce ? height : kStrip;
  begin_ = end_ = 0;
}

void StrokeParts::compute() {
  begin_ = end_;
  end_ = std::min(height_, begin_ + strip_);
  const auto in_strip = [&](int row) { return std::clamp(row, begin_, end_) - begin_; };
  const auto rows = static_cast<std::size_t>(end_ - begin_);
  ends_.resize(rows + 2);
  std::uint32_t* ends = ends_.data();
  std::fill_n(ends, rows + 2, 0);
  // Per row, the number of parts more than in the row above; afterwards the begin of its list.
  std::size_t slants = 0;
  for (const Part& part : parts_) {
    const int begin = in_strip(part.slant.begin), end = in_strip(part.slant.end);
    ++ends[begin + 1];
    --ends[end + 1];
    if (part.tile == kNoTile) slants += static_cast<std::size_t>(end - begin);
  }
  std::uint32_t count = 0, sum = 0;
  for (std::size_t i = 1; i <= rows; ++i) {
    count += ends[i];
    ends[i] = std::exchange(sum, sum + count);
  }
  // Each entry of a row's list advances the row's begin, until it has reached the row's end.
  pixels_.resize(sum);
  slant_rows_.resize(slants + kSlantRows);
  slant_levels_.resize(slants + kSlantRows + kTileWidth / kSlantPixels);
  TileRow* slant_rows = slant_rows_.data();
  std::uint64_t* slant_levels = slant_levels_.data();
  for (const Part& part : parts_) {
    const int begin = in_strip(part.slant.begin), end = in_strip(part.slant.end);
    if (part.tile != kNoTile) {
      const std::size_t at = part.tile + static_cast<std::size_t>(begin + begin_ - part.slant.begin);
      list(begin, end, tile_rows_.data() + at, tile_levels_.data() + at * kTileWidth, kTileWidth);
      continue;
    }
    for (int row = begin; row < end; row += kSlantRows) {
      const double x = part.slant.x + static_cast<double>(row + begin_ - part.slant.begin) * part.slant.step;
      stroke::slant_rows(x, part.slant.step, part.slant.across, std::min(end - row, kSlantRows),
                         slant_rows + (row - begin), slant_levels + (row - begin));
    }
    list(begin, end, slant_rows, reinterpret_cast<const std::uint8_t*>(slant_levels), kSlantPixels);
    slant_rows += end - begin;
    slant_levels += end - begin;
  }
}

void StrokeParts::list(int begin, int end, const TileRow* rows, const std::uint8_t* levels, std::size_t stride) {
  std::uint32_t* at = ends_.data() + begin + 1;
  for (int i = 0; i < end - begin; ++i, levels += stride) {
    pixels_[at[i]++] = {rows[i].x, rows[i].count, rows[i].apart, levels + rows[i].skipped};
  }
}

}  // namespace millrace::stroke
