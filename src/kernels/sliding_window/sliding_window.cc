#include "src/kernels/sliding_window/sliding_window.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/kernels/elementary.h"

namespace millrace::window {

WindowAxis::WindowAxis(std::int64_t size, std::int64_t window, double overlap)
    : size_(size), window_(window), padded_(std::max(size, window)), before_((padded_ - size) / 2) {
  // Rounds as Python does: int(window * (1 - overlap)).
  const auto part = static_cast<std::int64_t>(static_cast<double>(window) * (1 - overlap));
  const std::int64_t step = window == padded_ ? window : std::max<std::int64_t>(part, 1);
  for (std::int64_t start = 0;; start += step) {
    starts_.push_back(std::min(start, padded_ - window));
    if (start + window >= padded_) break;
  }
}

std::pair<std::size_t, std::size_t> WindowAxis::covering(std::int64_t from, std::int64_t to) const {
  const auto first = std::upper_bound(starts_.begin(), starts_.end(), from - window_);
  const auto last = std::lower_bound(starts_.begin(), starts_.end(), to);
  return {static_cast<std::size_t>(first - starts_.begin()), static_cast<std::size_t>(last - starts_.begin())};
}

std::int64_t WindowAxis::source(std::int64_t at, Padding padding) const {
  const std::int64_t k = at - before_;
  if (k >= 0 && k < size_) return k;
  switch (padding) {
    case Padding::constant:
      return -1;
    case Padding::replicate:
      return k < 0 ? 0 : size_ - 1;
    case Padding::circular:
      return k < 0 ? k + size_ : k - size_;
    case Padding::reflect:
      return k < 0 ? -k : 2 * (size_ - 1) - k;
  }
  return -1;
}

bool WindowAxis::can_pad(Padding padding) const {
  const std::int64_t most = padded_ - size_ - before_;  // the end has as much as the beginning, or one more
  if (padding == Padding::reflect) return most < size_;
  return padding != Padding::circular || most <= size_;
}

WindowWeights::WindowWeights(Importance importance, std::int64_t height, std::int64_t width) {
  const auto along = [&](std::int64_t side) {
    std::vector<float> out(static_cast<std::size_t>(side), 1.0F);
    if (importance == Importance::constant) return out;
    const double deviation = static_cast<double>(side) * 0.125;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float x = static_cast<float>(i) - static_cast<float>(side - 1) / 2;
      out[i] = static_cast<float>(exponential(static_cast<double>(x * x) / (-2 * deviation * deviation)));
    }
    return out;
  };
  rows_ = along(height);
  columns_ = along(width);
  const float least =
      *std::min_element(rows_.begin(), rows_.end()) * *std::min_element(columns_.begin(), columns_.end());
  least_ = std::max(least, 1e-3F);
}

WindowBlender::WindowBlender(const WindowAxis& y, const WindowAxis& x, int channels, Importance importance,
                             SumStore* store)
    : y_(y),
      x_(x),
      channels_(static_cast<std::size_t>(channels)),
      weights_(importance, y.window(), x.window()),
      store_(store),
      sums_((store == nullptr ? static_cast<std::size_t>(y.window()) * channels_ : 1) *
            static_cast<std::size_t>(x.padded())),
      divisor_(static_cast<std::size_t>(x.padded())),
      added_(y.starts().size()) {
  std::fill(sums_.begin(), sums_.end(), 0.0F);
}

std::uint64_t WindowBlender::bytes(const WindowAxis& y, const WindowAxis& x, int channels, bool stored) {
  return static_cast<std::uint64_t>(stored ? 2 : y.window() * channels + 1) * static_cast<std::uint64_t>(x.padded()) *
             sizeof(float) +
         y.starts().size() * (sizeof(std::vector<bool>) + x.starts().size() / 8 + 16);
}

void WindowBlender::add(std::size_t row, std::size_t column, const float* result) {
  const auto height = static_cast<std::size_t>(y_.window()), width = static_cast<std::size_t>(x_.window());
  const float least = weights_.least();
  const float* const columns = weights_.columns();
  for (std::size_t c = 0; c < channels_; ++c) {
    for (std::size_t i = 0; i < height; ++i) {
      const std::size_t at =
          place(y_.starts()[row] + static_cast<std::int64_t>(i), c) + static_cast<std::size_t>(x_.starts()[column]);
      float* const to = sums_.data() + (store_ == nullptr ? at : 0);
      if (store_ != nullptr) store_->read(at, {to, width});
      const float* const from = result + (c * height + i) * width;
      const float by = weights_.row(i);
      for (std::size_t j = 0; j < width; ++j) to[j] += std::max(by * columns[j], least) * from[j];
      if (store_ != nullptr) store_->write(at, {to, width});
    }
  }
  std::vector<bool>& added = added_[row];
  if (added.empty()) added.resize(x_.starts().size());
  added[column] = true;
}

std::int64_t WindowBlender::complete_rows_before(std::size_t row) const {
  return row < y_.starts().size() ? y_.starts()[row] : y_.padded();
}

void WindowBlender::take_row(std::int64_t y, float* out) {
  const std::int64_t row = y + y_.before();
  const auto width = static_cast<std::size_t>(x_.window());
  const float least = weights_.least();
  const float* const columns = weights_.columns();
  std::fill(divisor_.begin(), divisor_.end(), 0.0F);
  const auto [first, last] = y_.covering(row, row + 1);
  for (std::size_t k = first; k < last; ++k) {
    if (added_[k].empty()) continue;
    const float by = weights_.row(static_cast<std::size_t>(row - y_.starts()[k]));
    for (std::size_t w = 0; w < x_.starts().size(); ++w) {
      if (!added_[k][w]) continue;
      float* const to = divisor_.data() + x_.starts()[w];
      for (std::size_t j = 0; j < width; ++j) to[j] += std::max(by * columns[j], least);
    }
  }
  const auto size = static_cast<std::size_t>(x_.size());
  const float* const divisor = divisor_.data() + x_.before();
  for (std::size_t c = 0; c < channels_; ++c) {
    const std::span<float> from(sums_.data() + (store_ == nullptr ? place(row, c) : 0),
                                static_cast<std::size_t>(x_.padded()));
    if (store_ != nullptr) store_->read(place(row, c), from);
    const float* const image = from.data() + x_.before();
    for (std::size_t j = 0; j < size; ++j) out[c * size + j] = divisor[j] > 0 ? image[j] / divisor[j] : 0;
    std::fill(from.begin(), from.end(), 0.0F);  // for the row that takes its place in the ring
    if (store_ != nullptr) store_->write(place(row, c), from);
  }
}

namespace {

// Returns e^x for x <= 0, to 2 units in the last place: 2^n e^r with |r| <= log(2) / 2. It uses additions and products
// alone: the same bits everywhere.
inline float exponential_below_zero(float x) {
  constexpr float kToInteger = 12582912.0F;  // 1.5 * 2^23: a sum with it is rounded to a whole number
  x = x < -87.0F ? -87.0F : x;
  const float shifted = x * 1.44269504F + kToInteger;
  const float n = shifted - kToInteger;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  const float sum =
      ((((((1.0F / 5040 * r + 1.0F / 720) * r + 1.0F / 120) * r + 1.0F / 24) * r + 1.0F / 6) * r + 0.5F) * r + 1) * r +
      1;
  const auto power =
      static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kToInteger));
  return sum * std::bit_cast<float>((power + 127) << 23);
}

}  // namespace

void sigmoid(std::span<float> values) {
  for (float& value : values) {
    const float e = exponential_below_zero(-std::fabs(value));
    value = (value < 0 ? e : 1.0F) / (1 + e);
  }
}

void softmax(std::span<float> values, std::size_t channels) {
  const std::size_t width = values.size() / channels;
  for (std::size_t j = 0; j < width; ++j) {
    float most = values[j];
    for (std::size_t c = 1; c < channels; ++c) most = std::max(most, values[c * width + j]);
    float sum = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      float& value = values[c * width + j];
      value = exponential_below_zero(value - most);
      sum += value;
    }
    for (std::size_t c = 0; c < channels; ++c) values[c * width + j] /= sum;
  }
}

void flip(std::span<float> values, std::size_t height, std::size_t width, bool rows, bool columns) {
  for (auto plane = values.begin(); plane != values.end(); plane += static_cast<std::ptrdiff_t>(height * width)) {
    const auto row = [&](std::size_t y) { return plane + static_cast<std::ptrdiff_t>(y * width); };
    if (rows)
      for (std::size_t y = 0; y < height / 2; ++y) std::swap_ranges(row(y), row(y + 1), row(height - 1 - y));
    if (columns)
      for (std::size_t y = 0; y < height; ++y) std::reverse(row(y), row(y + 1));
  }
}

void enlarge(std::span<const float> from, std::size_t height, std::size_t width, std::size_t factor,
             std::span<float> out) {
  const std::size_t small_height = height / factor, small_width = width / factor;
  struct Tap {
    std::size_t first = 0, second = 0;
    float weight = 0;  // weight of the second
  };
  const auto taps = [factor](std::size_t count, std::size_t there) {
    std::vector<Tap> out(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double at = std::max((static_cast<double>(i) + 0.5) / static_cast<double>(factor) - 0.5, 0.0);
      const auto first = static_cast<std::size_t>(at);
      out[i] = {first, std::min(first + 1, there - 1), static_cast<float>(at - static_cast<double>(first))};
    }
    return out;
  };
  const std::vector<Tap> rows = taps(height, small_height), columns = taps(width, small_width);
  float* to = out.data();
  for (std::size_t plane = 0; plane < from.size(); plane += small_height * small_width) {
    for (const Tap& row : rows) {
      const float *above = from.data() + plane + row.first * small_width,
                  *below = from.data() + plane + row.second * small_width;
      for (const Tap& column : columns) {
        const float upper = above[column.first] + (above[column.second] - above[column.first]) * column.weight,
                    lower = below[column.first] + (below[column.second] - below[column.first]) * column.weight;
        *to++ = upper + (lower - upper) * row.weight;
      }
    }
  }
}

void label(std::span<const float> row, std::span<const float> weights, std::optional<float> threshold,
           std::span<std::uint8_t> out) {
  const std::size_t width = weights.size(), channels = row.size() / width;
  if (channels == 1 && threshold) {
    for (std::size_t j = 0; j < width; ++j) out[j] = weights[j] > 0 && row[j] >= *threshold ? 1 : 0;
    return;
  }
  for (std::size_t j = 0; j < width; ++j) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < channels; ++c)
      if (row[c * width + j] > row[best * width + j]) best = c;
    const bool is_none = !(weights[j] > 0) || (threshold && !(row[best * width + j] >= *threshold));
    out[j] = static_cast<std::uint8_t>(is_none ? 0 : best + (threshold ? 1 : 0));
  }
}

void gather_window(const WindowAxis& y, const WindowAxis& x, std::size_t window_row, std::size_t window_column,
                   Padding padding, const std::vector<const std::uint8_t*>& rows, std::int64_t first_row,
                   std::size_t pixel, std::span<const std::size_t> order, std::span<const LevelTable> levels,
                   float* out) {
  const auto height = static_cast<std::size_t>(y.window()), width = static_cast<std::size_t>(x.window());
  const std::int64_t top = y.starts()[window_row], left = x.starts()[window_column];
  const bool inside = left >= x.before() && left + x.window() <= x.before() + x.size();
  for (std::size_t i = 0; i < height; ++i) {
    const std::int64_t source = y.source(top + static_cast<std::int64_t>(i), padding);
    const std::uint8_t* const row = source < 0 ? nullptr : rows[static_cast<std::size_t>(source - first_row)];
    for (std::size_t c = 0; c < order.size(); ++c) {
      float* const to = out + (c * height + i) * width;
      if (row == nullptr) {
        std::fill_n(to, width, 0.0F);
        continue;
      }
      const float* const of = levels[c].of.data();
      if (inside) {
        const std::uint8_t* from = row + static_cast<std::size_t>(left - x.before()) * pixel + order[c];
        for (std::size_t j = 0; j < width; ++j, from += pixel) to[j] = of[*from];
        continue;
      }
      for (std::size_t j = 0; j < width; ++j) {
        const std::int64_t at = x.source(left + static_cast<std::int64_t>(j), padding);
        to[j] = at < 0 ? 0.0F : of[row[static_cast<std::size_t>(at) * pixel + order[c]]];
      }
    }
  }
}

int measure_spread(const WindowAxis& y, const WindowAxis& x, std::size_t window_row, std::size_t window_column,
                   const std::vector<const std::uint8_t*>& rows, std::int64_t first_row, std::size_t pixel) {
  const auto within = [](const WindowAxis& axis, std::size_t k) {
    const std::int64_t from = axis.starts()[k] - axis.before();
    return std::pair(std::max<std::int64_t>(from, 0), std::min(from + axis.window(), axis.size()));
  };
  const auto [top, bottom] = within(y, window_row);
  const auto [left, right] = within(x, window_column);
  std::array<std::uint8_t, kMaxPixelBytes> low, high;
  low.fill(255);
  high.fill(0);
  for (std::int64_t r = top; r < bottom; ++r) {
    const std::uint8_t* at = rows[static_cast<std::size_t>(r - first_row)] + static_cast<std::size_t>(left) * pixel;
    for (std::int64_t j = left; j < right; ++j) {
      for (std::size_t c = 0; c < pixel; ++c, ++at) {
        low[c] = std::min(low[c], *at);
        high[c] = std::max(high[c], *at);
      }
    }
  }
  int out = 0;
  for (std::size_t c = 0; c < pixel; ++c) out = std::max(out, high[c] - low[c]);
  return out;
}

}  // namespace millrace::window
