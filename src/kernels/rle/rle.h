// Input: how much ink each pixel of a picture has, row by row, from whatever draws.
// Output: the same as short runs on paper, and pixels of it for whoever needs pixels.
// Never: holds paper at length: an empty part of a picture costs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/memory/buffer.h"

namespace millrace::rle {

// Levels of ink: 0 is paper, 255 all ink.
inline constexpr std::uint8_t kFull = 255;
// The longest side of a picture.
inline constexpr int kLongestSide = 16384;

// Neighbouring pixels of one row: `literals` with a level of their own each, then `repeats` of one level. Literals
// neither begin nor end with paper, and no more than kLongestGap of them are that are neighbours; repeats are ink.
inline constexpr int kLongestGap = 3;
struct Run {
  std::uint16_t x = 0;
  std::uint16_t literals = 0;
  std::uint16_t repeats = 0;
  std::uint8_t level = 0;  // of the repeats
  std::uint8_t unused = 0;
};

// A picture of width x height pixels. Runs of a row go from left to right and do not overlap.
class Image {
 public:
  static constexpr std::size_t kBeyond = 32;

  // Starts anew: no rows yet. Keeps its memory.
  void begin(int width, int height);
  // Rows are made from the top; each of these adds to the newest one.
  void begin_row() {
    rows_[static_cast<std::size_t>(begun_)] = static_cast<std::uint32_t>(run_count_);
    level_rows_[static_cast<std::size_t>(begun_)] = static_cast<std::uint32_t>(level_count_);
    ++begun_;
    open_ = false;
    const auto most = static_cast<std::size_t>(width_) + kBeyond;
    runs_.grow(run_count_ + most, run_count_);
    levels_.grow(level_count_ + most, level_count_);
  }
  void add_literal(int x, std::uint8_t level);
  void add_run(int x, int count, std::uint8_t level);
  // A whole row at once, for whoever makes many: room for a run and a level a pixel and kBeyond more, filled from the
  // front.
  struct Room {
    Run* runs;
    std::uint8_t* levels;
  };
  Room begin_whole_row() {
    begin_row();
    return {runs_.data() + run_count_, levels_.data() + level_count_};
  }
  void end_whole_row(std::size_t runs, std::size_t levels) {
    run_count_ += runs;
    level_count_ += levels;
  }
  // Every row that is missing stays empty.
  void finish();

  int width() const { return width_; }
  int height() const { return height_; }
  std::span<const Run> row(int y) const {
    const auto k = static_cast<std::size_t>(y);
    return {runs_.data() + rows_[k], rows_[k + 1] - rows_[k]};
  }
  // The levels of the literals of row y's runs, one after the other.
  const std::uint8_t* levels(int y) const { return levels_.data() + level_rows_[static_cast<std::size_t>(y)]; }

 private:
  int width_ = 0, height_ = 0, begun_ = 0;
  std::size_t run_count_ = 0, level_count_ = 0;
  int end_ = 0;  // where the newest run ends
  bool open_ = false;
  Buffer<Run> runs_;
  Buffer<std::uint8_t> levels_;
  Buffer<std::uint32_t> rows_, level_rows_;
};

// What each level of ink looks like.
using GrayTable = std::array<std::uint8_t, 256>;
// Between paper (level 0) and ink (255), rounded to nearest.
GrayTable gray_table(std::uint8_t paper, std::uint8_t ink);

// Pixels of one byte, row by row.
void paint(const Image& picture, const GrayTable& grays, std::uint8_t* out);
// Rows [begin, end) alone.
void paint_rows(const Image& picture, const GrayTable& grays, int begin, int end, std::uint8_t* out);

}  // namespace millrace::rle
