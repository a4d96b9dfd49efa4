#include "src/kernels/rle/layers.h"

#include <algorithm>
#include <cstring>

namespace millrace::rle {

void append_rows(const Image& from, Image& to) {
  for (int y = 0; y < from.height(); ++y) {
    to.begin_row();
    const std::uint8_t* level = from.levels(y);
    for (const PixelRun& run : from.row(y)) {
      for (int i = 0; i < run.literals; ++i) to.add_literal(run.x + i, *level++);
      if (run.repeats > 0) to.add_run(run.x + run.literals, run.repeats, run.level);
    }
  }
}

void Overlay::append(const Image& a, const Image& b, Image& to) {
  row_.assign(static_cast<std::size_t>(a.width()), 0);
  for (int y = 0; y < a.height(); ++y) {
    to.begin_row();
    int begin = a.width(), end = 0;  // bounds of the foreground
    for (const Image* picture : {&a, &b}) {
      const std::uint8_t* level = picture->levels(y);
      for (const PixelRun& run : picture->row(y)) {
        std::uint8_t* at = row_.data() + run.x;
        for (int i = 0; i < run.literals; ++i) at[i] = std::max(at[i], *level++);
        at += run.literals;
        for (int i = 0; i < run.repeats; ++i) at[i] = std::max(at[i], run.level);
        begin = std::min<int>(begin, run.x);
        end = std::max<int>(end, run.x + run.literals + run.repeats);
      }
    }
    for (int x = begin; x < end; ++x) {
      if (row_[static_cast<std::size_t>(x)] > 0) to.add_literal(x, row_[static_cast<std::size_t>(x)]);
    }
    if (begin < end) std::memset(row_.data() + begin, 0, static_cast<std::size_t>(end - begin));
  }
}

}  // namespace millrace::rle
