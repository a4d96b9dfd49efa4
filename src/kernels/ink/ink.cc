#include "src/kernels/ink/ink.h"

#include <cstring>

namespace millrace::ink {
void Picture::begin(int width, int height) {
  width_ = width;
  height_ = height;
  begun_ = 0;
  span_count_ = level_count_ = 0;
  rows_.resize(static_cast<std::size_t>(height) + 1);
  level_rows_.resize(static_cast<std::size_t>(height) + 1);
}

void Picture::begin_row() {
  rows_[static_cast<std::size_t>(begun_)] = static_cast<std::uint32_t>(span_count_);
  level_rows_[static_cast<std::size_t>(begun_)] = static_cast<std::uint32_t>(level_count_);
  ++begun_;
  open_ = false;
  const auto most = static_cast<std::size_t>(width_) + kBeyond;
  spans_.grow(span_count_ + most, span_count_);
  levels_.grow(level_count_ + most, level_count_);
}

Picture::Room Picture::begin_whole_row() {
  begin_row();
  return {spans_.data() + span_count_, levels_.data() + level_count_};
}

void Picture::add_literal(int x, std::uint8_t level) {
  // A run closes its span.
  if (!open_ || x != end_ || spans_[span_count_ - 1].run > 0) {
    spans_[span_count_++] = {static_cast<std::uint16_t>(x), 0, 0, 0, 0};
    open_ = true;
  }
  ++spans_[span_count_ - 1].literals;
  levels_[level_count_++] = level;
  end_ = x + 1;
}

void Picture::add_run(int x, int count, std::uint8_t level) {
  if (!open_ || x != end_ || spans_[span_count_ - 1].run > 0) {
    spans_[span_count_++] = {static_cast<std::uint16_t>(x), 0, 0, 0, 0};
    open_ = true;
  }
  Span& span = spans_[span_count_ - 1];
  span.run = static_cast<std::uint16_t>(count);
  span.level = level;
  end_ = x + count;
}

void Picture::finish() {
  for (int y = begun_; y <= height_; ++y) {
    rows_[static_cast<std::size_t>(y)] = static_cast<std::uint32_t>(span_count_);
    level_rows_[static_cast<std::size_t>(y)] = static_cast<std::uint32_t>(level_count_);
  }
}

Tones tones(std::uint8_t paper, std::uint8_t ink) {
  Tones out;
  for (int level = 0; level < 256; ++level) {
    out[static_cast<std::size_t>(level)] = static_cast<std::uint8_t>((paper * (255 - level) + ink * level + 127) / 255);
  }
  return out;
}

void paint(const Picture& picture, const Tones& tones, std::uint8_t* out) {
  const auto width = static_cast<std::size_t>(picture.width());
  std::memset(out, tones[0], width * static_cast<std::size_t>(picture.height()));
  for (int y = 0; y < picture.height(); ++y) {
    std::uint8_t* line = out + static_cast<std::size_t>(y) * width;
    const std::uint8_t* level = picture.levels(y);
    for (const Span& span : picture.row(y)) {
      std::uint8_t* at = line + span.x;
      for (std::size_t i = 0; i < span.literals; ++i) at[i] = tones[level[i]];
      level += span.literals;
      std::memset(at + span.literals, tones[span.level], span.run);
    }
  }
}

}  // namespace millrace::ink
