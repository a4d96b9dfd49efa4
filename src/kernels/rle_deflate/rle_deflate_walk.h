// Input: an image of foreground runs.
// Output: the sequence of a stream's parts: background, literals, and pixels that repeat the one before.
// Never: handles bits. Used only by rle_deflate.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "src/kernels/rle_deflate/rle_deflate.h"

namespace millrace::rle_deflate {

inline constexpr std::uint32_t kMaxRun = 258, kMinRun = 3;

// Number of equal neighbours of a row after which further equal pixels are encoded as a run. So the encoding depends
// only on the pixels, not on the rasterizer's runs: src/kernels/rle_deflate/body encodes plain pixels the same way.
inline constexpr std::uint32_t kAlike = 8;

// False if no more than kAlike of `count` neighbours can be equal. A longer sequence of equal pixels always has five
// equal ones that begin at a multiple of four.
[[gnu::always_inline]] inline bool can_repeat(const std::uint8_t* levels, std::size_t count) {
  if (count <= kAlike) return false;
  for (std::size_t i = 0; i + 4 < count; i += 4) {
    std::uint32_t here, next;
    std::memcpy(&here, levels + i, sizeof here);
    std::memcpy(&next, levels + i + 1, sizeof next);
    if (here == next) return true;
  }
  return false;
}

// Runs of a row without background between them, from the first that may repeat the pixels before it or its own.
template <typename Sink>
class Stretch {
 public:
  Stretch(const Sink& of, const rle::PixelRun* first, const std::uint8_t* of_first)
      : sink(of), run(first), levels(of_first) {}

  Sink sink;
  // Next run after the stretch, and where the stretch ends.
  const rle::PixelRun* run;
  const std::uint8_t* levels;
  std::uint32_t end = 0;

  // Encodes runs up to `last_run`; `few` literals lie directly before them.
  void put(const rle::PixelRun* const last_run, std::uint32_t few) {
    if (few > 0) count_back(few);
    do {
      literals(run->literals);
      if (run->repeats > 0) repeat(run->level, run->repeats);
      end = std::uint32_t{run->x} + run->literals + run->repeats;
      ++run;
    } while (run != last_run && run->x == end);
    put_pending();
  }

 private:
  // Counts how many of the last `count` literals equal the last one.
  void count_back(std::uint32_t count) {
    last_ = levels[-1];
    for (alike_ = 1; alike_ < count && levels[-1 - static_cast<std::ptrdiff_t>(alike_)] == last_;) ++alike_;
  }
  void put_pending() {
    if (pending_ > 0) sink.more(last_, std::exchange(pending_, 0));
  }
  void literals(std::uint32_t count) {
    if (count > 0 && (alike_ == 0 || *levels != last_) && !can_repeat(levels, count)) {
      put_pending();
      sink.literals(levels, count);
      levels += count;
      return count_back(count);
    }
    for (const std::uint8_t* const behind = levels + count; levels < behind;) {
      const std::uint8_t* const begin = levels;
      for (; levels < behind && !(alike_ >= kAlike && *levels == last_); ++levels) {
        put_pending();
        alike_ = alike_ > 0 && *levels == last_ ? alike_ + 1 : 1;
        last_ = *levels;
      }
      sink.literals(begin, static_cast<std::size_t>(levels - begin));
      for (; levels < behind && *levels == last_; ++levels) ++pending_;
    }
  }
  void repeat(std::uint8_t level, std::uint32_t count) {
    if (alike_ == 0 || level != last_) {
      put_pending();
      alike_ = 0;
      last_ = level;
    }
    std::array<std::uint8_t, 2 * kAlike> same;  // a reader of literals may read beyond them
    same.fill(level);
    const std::uint32_t put = std::min(count, kAlike - std::min(alike_, kAlike));
    sink.literals(same.data(), put);
    alike_ += put;
    pending_ += count - put;
  }

  std::uint8_t last_ = 0;
  std::uint32_t alike_ = 0;    // pixels equal to the last one; from kAlike on not all are counted
  std::uint32_t pending_ = 0;  // pixels equal to the last one that have not been encoded
};

template <typename Sink>
[[gnu::noinline]] Stretch<Sink> after_stretch(Sink sink, const rle::PixelRun* run, const rle::PixelRun* last_run,
                                              const std::uint8_t* levels, std::uint32_t few) {
  Stretch<Sink> out(sink, run, levels);
  out.put(last_run, few);
  return out;
}

// The sink's state must stay in registers, so rare cases work on copies.
template <typename Sink>
[[gnu::always_inline]] inline void walk_image(const rle::Image& picture, const StreamLayout& layout, Sink& sink) {
  const auto width = static_cast<std::uint32_t>(picture.width());
  std::uint32_t background = 0;
  for (int y = 0; y < picture.height(); ++y) {
    if (layout.row_prefix) {
      if (background > 0) sink.background(background);
      sink.zero();
      background = 0;
    }
    const std::uint8_t* levels = picture.levels(y);
    const std::span<const rle::PixelRun> row = picture.row(y);
    std::uint32_t end = 0;
    for (const rle::PixelRun *run = row.data(), *const last = run + row.size(); run != last;) {
      const std::uint32_t between = run->x - end;
      background += between;
      if (background > 0) sink.background(background);
      background = 0;
      // Most runs are few pixels between background, or begin with another level than the pixel before them.
      const bool goes_on = between == 0 && end > 0 && levels[-1] == *levels;
      if (run->repeats > 0 || goes_on || can_repeat(levels, run->literals)) {
        const std::uint32_t few = between == 0 && end > 0 ? (run - 1)->literals : 0;
        const Stretch<Sink> put = after_stretch(sink, run, last, levels, few);
        sink = put.sink;
        run = put.run;
        levels = put.levels;
        end = put.end;
      } else {
        sink.literals(levels, run->literals);
        levels += run->literals;
        end = std::uint32_t{run->x} + run->literals;
        ++run;
      }
    }
    background += width - end;
  }
  if (background > 0) sink.background(background);
}

// Splits `count` more pixels equal to the one before them into matches, and at most 2 remaining bytes.
template <typename Byte, typename Match>
void split_more(std::span<const std::uint8_t> pixel, std::uint64_t count, const Byte& byte, const Match& match) {
  std::uint64_t left = count * pixel.size();
  while (left >= kMinRun) {
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kMaxRun));
    match(length);
    left -= length;
  }
  for (std::uint64_t i = 0; i < left; ++i) byte(pixel[(kMinRun * pixel.size() - left + i) % pixel.size()]);
}

// Visits literals; background among them is encoded as elsewhere. For one byte per pixel such short gaps give the same
// code either way.
template <typename Background, typename Pixel>
[[gnu::always_inline]] inline void each_pixel(const std::uint8_t* levels, std::size_t count,
                                              const Background& background, const Pixel& pixel) {
  static_assert(rle::kMaxGap <= kMinRun);
  std::uint32_t gap = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (levels[i] == 0) {
      ++gap;
      continue;
    }
    if (gap > 0) background(std::exchange(gap, 0));
    pixel(levels[i]);
  }
  if (gap > 0) background(gap);
}

}  // namespace millrace::rle_deflate
