#include "src/kernels/chart/series_painter.h"

#include <cmath>
#include <limits>

namespace millrace::chart {

SeriesPainter::SeriesPainter(const Spec& spec, const Format& format)
    : spec_(spec), format_(format), roles_(roles_of(spec)), style_(make_style(spec)), packer_(format) {}

template <typename Number>
void SeriesPainter::take(const Number* series, std::size_t before) {
  const std::size_t columns = roles_.size();
  const auto value = [&](std::size_t row, std::size_t column) {
    const auto v = static_cast<double>(series[row * columns + column]);
    return std::abs(v) <= kLargest ? v : std::numeric_limits<double>::quiet_NaN();
  };
  window_.before.clear();
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double>& out = window_.rows[roles_[c]];
    out.resize(spec_.rows);
    for (std::size_t r = 0; r < spec_.rows; ++r) out[r] = value(before + r, c);
    if (roles_[c] != kClose) continue;
    for (std::size_t r = 0; r < before; ++r) window_.before.push_back(value(r, c));
  }
}

template <typename Number>
void SeriesPainter::paint(const Number* series, std::size_t before, bool past_caches, std::uint8_t* out) {
  take(series, before);
  style_->draw(window_, picture_);
  const rle::Image& picture = packer_.pack(picture_);
  past_caches ? rle::paint_past_caches(picture, format_.pixels, memory_, out)
              : rle::paint(picture, format_.pixels, out);
}

template void SeriesPainter::paint(const double*, std::size_t, bool, std::uint8_t*);
template void SeriesPainter::paint(const float*, std::size_t, bool, std::uint8_t*);

}  // namespace millrace::chart
