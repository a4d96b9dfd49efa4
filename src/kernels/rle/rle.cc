#include "src/kernels/rle/rle.h"

#include <bit>
#include <cstring>

namespace millrace::rle {
void Image::begin(int width, int height) {
  width_ = width;
  height_ = height;
  begun_ = 0;
  run_count_ = level_count_ = 0;
  rows_.resize(static_cast<std::size_t>(height) + 1);
  level_rows_.resize(static_cast<std::size_t>(height) + 1);
}

void Image::add_literal(int x, std::uint8_t level) {
  // A level that repeats ends its run.
  if (!open_ || x != end_ || runs_[run_count_ - 1].repeats > 0) {
    runs_[run_count_++] = {static_cast<std::uint16_t>(x), 0, 0, 0, 0};
    open_ = true;
  }
  ++runs_[run_count_ - 1].literals;
  levels_[level_count_++] = level;
  end_ = x + 1;
}

void Image::add_run(int x, int count, std::uint8_t level) {
  if (!open_ || x != end_ || runs_[run_count_ - 1].repeats > 0) {
    runs_[run_count_++] = {static_cast<std::uint16_t>(x), 0, 0, 0, 0};
    open_ = true;
  }
  PixelRun& run = runs_[run_count_ - 1];
  run.repeats = static_cast<std::uint16_t>(count);
  run.level = level;
  end_ = x + count;
}

void Image::finish() {
  for (int y = begun_; y <= height_; ++y) {
    rows_[static_cast<std::size_t>(y)] = static_cast<std::uint32_t>(run_count_);
    level_rows_[static_cast<std::size_t>(y)] = static_cast<std::uint32_t>(level_count_);
  }
}

GrayTable gray_table(std::uint8_t background, std::uint8_t foreground) {
  GrayTable out;
  for (int level = 0; level < 256; ++level) {
    out[static_cast<std::size_t>(level)] =
        static_cast<std::uint8_t>((background * (255 - level) + foreground * level + 127) / 255);
  }
  return out;
}

namespace {

// Number of literals that are painted together.
constexpr std::size_t kTogether = 8;
static_assert(std::endian::native == std::endian::little);

// Paints at most kTogether literals, and background after them up to kTogether pixels. Levels beyond them may be read.
void paint_few(const std::uint8_t* levels, std::size_t count, const GrayTable& grays, std::uint8_t* out) {
  std::uint64_t few;
  std::memcpy(&few, levels, sizeof few);
  if (count < kTogether) few &= (std::uint64_t{1} << (8 * count)) - 1;
  for (std::size_t i = 0; i < kTogether; ++i) out[i] = grays[few >> (8 * i) & 255];
}

}  // namespace

void paint(const Image& picture, const GrayTable& grays, std::uint8_t* out) {
  paint_rows(picture, grays, 0, picture.height(), out);
}

void paint_rows(const Image& picture, const GrayTable& grays, int begin, int end, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(picture.width());
  for (int y = begin; y < end; ++y, out += width) {
    std::memset(out, grays[0], width);
    const std::uint8_t* level = picture.levels(y);
    for (const PixelRun& run : picture.row(y)) {
      // The number of literals varies from row to row, and a branch on it would be mispredicted half of the time.
      std::size_t i = 0;
      for (; i < run.literals && run.x + i + kTogether <= width; i += kTogether) {
        paint_few(level + i, run.literals - i, grays, out + run.x + i);
      }
      for (; i < run.literals; ++i) out[run.x + i] = grays[level[i]];
      level += run.literals;
      if (run.repeats > 0) std::memset(out + run.x + run.literals, grays[run.level], run.repeats);
    }
  }
}

}  // namespace millrace::rle
