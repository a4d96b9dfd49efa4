// Enters: the rows of series that lie in memory.
// Leaves: their charts' pixels in memory.
// Never: keeps what it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/kernels/chart/chart.h"
#include "src/kernels/chart/format.h"

namespace millrace::chart {

// Draws charts of one kind, one after the other, with the memory of the first. One thread at a time.
class SeriesPainter {
 public:
  SeriesPainter(const Spec& spec, const Format& format);
  // The rows of one chart, `before` of which lie before it, each a number for each of roles_of(); format.image_bytes()
  // are written, with `past_caches` as rle::paint_past_caches() does it.
  template <typename Number>
  void paint(const Number* series, std::size_t before, bool past_caches, std::uint8_t* out);

 private:
  template <typename Number>
  void take(const Number* series, std::size_t before);

  const Spec spec_;
  const Format& format_;
  const std::vector<Role> roles_;
  const std::unique_ptr<ChartStyle> style_;
  PixelPacker packer_;
  Window window_;
  rle::Image picture_;
  Buffer<std::uint8_t> memory_;
};

extern template void SeriesPainter::paint(const double*, std::size_t, bool, std::uint8_t*);
extern template void SeriesPainter::paint(const float*, std::size_t, bool, std::uint8_t*);

}  // namespace millrace::chart
