#include "src/kernels/chart/series_painter.h"

#include <cmath>
#include <limits>

#include "src/base/error.h"

namespace millrace::chart {

std::vector<double> scale_ends_of(const SeriesArray& series, std::span<const std::uint64_t> charts) {
  std::vector<double> out;
  for (const std::uint64_t chart : charts) {
    if (series.ends != nullptr) out.insert(out.end(), series.ends + 2 * chart, series.ends + 2 * chart + 2);
  }
  return out;
}

// Drawing state of one thread.
class SeriesPainters::One {
 public:
  One(const ChartSpec& spec, const Format& format)
      : spec_(spec), format_(format), roles_(price_columns_of(spec)), style_(make_style(spec)), packer_(format) {}

  // Returns an image that is valid until the next call.
  const rle::Image& draw(const SeriesArray& series, std::size_t i) {
    const std::uint8_t* const rows = static_cast<const std::uint8_t*>(series.data) + i * series.bytes(spec_);
    series.narrow ? take(reinterpret_cast<const float*>(rows), series.before)
                  : take(reinterpret_cast<const double*>(rows), series.before);
    window_.lowest = series.ends != nullptr ? series.ends[2 * i] : 0;
    window_.highest = series.ends != nullptr ? series.ends[2 * i + 1] : 0;
    style_->draw(window_, picture_);
    return packer_.pack(picture_);
  }
  void paint(const SeriesArray& series, std::size_t i, bool past_caches, std::uint8_t* out) {
    const rle::Image& picture = draw(series, i);
    past_caches ? rle::paint_past_caches(picture, format_.pixels, memory_, out)
                : rle::paint(picture, format_.pixels, out);
  }

 private:
  template <typename Number>
  void take(const Number* series, std::size_t before) {
    const std::size_t columns = roles_.size();
    const auto value = [&](std::size_t row, std::size_t column) {
      const auto v = static_cast<double>(series[row * columns + column]);
      return std::abs(v) <= kMaxPrice ? v : std::numeric_limits<double>::quiet_NaN();
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

  const ChartSpec& spec_;
  const Format& format_;
  const std::vector<PriceColumn> roles_;
  const std::unique_ptr<ChartStyle> style_;
  PixelPacker packer_;
  ChartWindow window_;
  rle::Image picture_;
  Buffer<std::uint8_t> memory_;
};

SeriesPainters::SeriesPainters(const ChartSpec& spec, const Format& format)
    : spec_(spec), format_(format), painters_([this] { return std::make_unique<One>(spec_, format_); }) {}
SeriesPainters::~SeriesPainters() = default;

void SeriesPainters::paint(const SeriesArray& series, const Executor& executor, std::uint8_t* out) const {
  const std::size_t image = format_.image_bytes();
  // A batch that fits no cache is written past the caches.
  // docs/design/strokes.md gives the reasons for the constants of this file.
  constexpr std::size_t kCached = 16 << 20;
  const bool large = series.count * image > kCached;
  executor.parallel_for(series.count, 4, [&](std::size_t from, std::size_t to) {
    const std::shared_ptr<One> painter = painters_.take();
    for (std::size_t i = from; i < to; ++i) painter->paint(series, i, large, out + i * image);
    if (large) rle::paint_end();
  });
  executor.throw_if_cancelled("only some charts were drawn");
}

void SeriesPainters::each(const SeriesArray& series, const Executor& executor,
                          const std::function<void(std::size_t, const rle::Image&)>& body) const {
  executor.parallel_for(series.count, 4, [&](std::size_t from, std::size_t to) {
    const std::shared_ptr<One> painter = painters_.take();
    for (std::size_t i = from; i < to; ++i) body(i, painter->draw(series, i));
  });
  executor.throw_if_cancelled();
}

}  // namespace millrace::chart
