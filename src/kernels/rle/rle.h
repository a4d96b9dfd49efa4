// Input: the foreground level of each pixel of an image, row by row, from a rasterizer.
// Output: the image as short runs on a background, and its pixels for consumers that need them.
// Never: stores background pixels: an empty area of an image takes no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/memory/buffer.h"

namespace millrace::rle {

// Foreground levels: 0 is background, 255 full foreground.
inline constexpr std::uint8_t kFull = 255;
// Longest side of an image.
// docs/design/strokes.md gives the reasons for the constants of this file.
inline constexpr int kMaxSide = 16384;

// Neighbouring pixels of one row: `literals` with their own levels, then `repeats` of one level. Literals neither begin
// nor end with background, and have at most kMaxGap background pixels in a row. Repeats are foreground.
inline constexpr int kMaxGap = 3;
struct PixelRun {
  std::uint16_t x = 0;
  std::uint16_t literals = 0;
  std::uint16_t repeats = 0;
  std::uint8_t level = 0;  // level of the repeats
  std::uint8_t unused = 0;
};

// An image of width x height pixels. Runs of a row are ordered from left to right and do not overlap.
class Image {
 public:
  static constexpr std::size_t kBeyond = 32;

  // Starts a new image without rows. Keeps the memory.
  void begin(int width, int height);
  // Begins the next row, from the top; the add functions add to the newest row.
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
  // Begins a row that the caller fills directly, which is faster for many rows. There is room for a run and a level per
  // pixel and kBeyond more, filled from the front.
  struct Room {
    PixelRun* runs;
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
  // Ends the image; missing rows are empty.
  void finish();

  int width() const { return width_; }
  int height() const { return height_; }
  std::span<const PixelRun> row(int y) const {
    const auto k = static_cast<std::size_t>(y);
    return {runs_.data() + rows_[k], rows_[k + 1] - rows_[k]};
  }
  // Returns the levels of all literals in row y's runs, in order.
  const std::uint8_t* levels(int y) const { return levels_.data() + level_rows_[static_cast<std::size_t>(y)]; }

 private:
  int width_ = 0, height_ = 0, begun_ = 0;
  std::size_t run_count_ = 0, level_count_ = 0;
  int end_ = 0;  // end of the newest run
  bool open_ = false;
  Buffer<PixelRun> runs_;
  Buffer<std::uint8_t> levels_;
  Buffer<std::uint32_t> rows_, level_rows_;
};

// Gray of each foreground level.
using GrayTable = std::array<std::uint8_t, 256>;
// Interpolates between `background` (level 0) and `foreground` (255), rounded to nearest.
GrayTable gray_table(std::uint8_t background, std::uint8_t foreground);

// Writes pixels of one byte, row by row.
void paint(const Image& picture, const GrayTable& grays, std::uint8_t* out);
// Writes rows [begin, end) only.
void paint_rows(const Image& picture, const GrayTable& grays, int begin, int end, std::uint8_t* out);

}  // namespace millrace::rle
