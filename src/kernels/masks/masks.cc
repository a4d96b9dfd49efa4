#include "src/kernels/masks/masks.h"

#include <algorithm>
#include <cmath>

namespace millrace::masks {

void from_probabilities(const float* probabilities, std::uint16_t* mask, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float p = probabilities[i] * float{kOne};
    // NaN gives 0, too.
    mask[i] = !(p > 0) ? std::uint16_t{0} : p >= float{kOne} ? kOne : static_cast<std::uint16_t>(p + 0.5F);
  }
}

std::vector<Tap> taps(std::int32_t from, std::int32_t to) {
  std::vector<Tap> out(static_cast<std::size_t>(to));
  for (std::int64_t k = 0; k < to; ++k) {
    // Position (k + 1/2) * from / to - 1/2, as a fraction of whole numbers.
    const std::int64_t over = 2 * std::int64_t{to}, at = (2 * k + 1) * from - to;
    const std::int64_t whole = at < 0 ? -1 : at / over;
    Tap& tap = out[static_cast<std::size_t>(k)];
    if (whole < 0) continue;
    tap.from = static_cast<std::int32_t>(std::min<std::int64_t>(whole, from - 1));
    if (whole < from - 1) tap.weight = static_cast<std::uint16_t>((at - whole * over) * kOne / over);
  }
  return out;
}

void shrink(const std::uint16_t* above, const std::uint16_t* below, int columns, std::uint16_t* out,
            std::size_t width) {
  const auto step = static_cast<std::size_t>(columns);
  const std::size_t whole = width / step;
  if (columns == 1) {
    for (std::size_t i = 0; i < whole; ++i) out[i] = static_cast<std::uint16_t>((above[i] + below[i] + 1) / 2);
  } else if (columns == 2) {
    for (std::size_t i = 0; i < whole; ++i) {
      const int sum = above[2 * i] + above[2 * i + 1] + below[2 * i] + below[2 * i + 1];
      out[i] = static_cast<std::uint16_t>((sum + 2) / 4);
    }
  } else {
    for (std::size_t i = 0; i < whole; ++i) {
      int sum = 0;
      for (std::size_t c = 0; c < step; ++c) sum += above[step * i + c] + below[step * i + c];
      out[i] = static_cast<std::uint16_t>((sum + columns) / (2 * columns));
    }
  }
  if (whole * step == width) return;
  int sum = 0;
  for (std::size_t x = whole * step; x < width; ++x) sum += above[x] + below[x];
  const int rest = static_cast<int>(width - whole * step);
  out[whole] = static_cast<std::uint16_t>((sum + rest) / (2 * rest));
}

Enlarger::Enlarger(std::int32_t from_width, std::int32_t from_height, std::int32_t to_width, std::int32_t to_height)
    : width_(from_width), height_(from_height), x_(taps(from_width, to_width)), y_(taps(from_height, to_height)) {
  for (auto& row : wide_) row.resize(x_.size());
}

void Enlarger::begin(const std::uint16_t* mask) {
  mask_ = mask;
  which_[0] = which_[1] = -1;
}

const std::vector<std::uint16_t>& Enlarger::wide(std::int32_t y) {
  auto& row = wide_[y & 1];
  if (which_[y & 1] == y) return row;
  which_[y & 1] = y;
  const std::uint16_t* of = mask_ + static_cast<std::ptrdiff_t>(y) * width_;
  for (std::size_t k = 0; k < x_.size(); ++k) {
    const int a = of[x_[k].from];
    // A sample behind it may not exist where the weight is 0.
    const int b = x_[k].weight == 0 ? a : of[x_[k].from + 1];
    row[k] = static_cast<std::uint16_t>(a + (((b - a) * x_[k].weight + (1 << 13)) >> 14));
  }
  return row;
}

void Enlarger::row(std::int32_t y, std::uint16_t* out) {
  const Tap& tap = y_[static_cast<std::size_t>(y)];
  const auto& above = wide(tap.from);
  if (tap.weight == 0) {
    std::copy(above.begin(), above.end(), out);
    return;
  }
  const auto& below = wide(tap.from + 1);
  mix(above.data(), below.data(), tap.weight, out, x_.size());
}

}  // namespace millrace::masks
