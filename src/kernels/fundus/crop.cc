#include "src/kernels/fundus/crop.h"

#include <algorithm>
#include <cmath>

namespace millrace::fundus {

FundusPoint FundusCrop::from_photograph(const FundusPoint& p) const {
  return {(p.x - center.x) * scale + side / 2.0, (p.y - center.y) * scale + side / 2.0};
}

FundusPoint FundusCrop::to_photograph(const FundusPoint& p) const {
  return {(p.x - side / 2.0) / scale + center.x, (p.y - side / 2.0) / scale + center.y};
}

FieldBounds FundusCrop::from_photograph(const FieldBounds& bounds) const {
  FieldBounds out = bounds;
  out.center = from_photograph(bounds.center);
  out.radius = bounds.radius * scale;
  for (BoundaryLine& line : out.lines) {
    const FundusPoint on = from_photograph(FundusPoint{line.normal.x * line.offset, line.normal.y * line.offset});
    line.offset = line.normal.x * on.x + line.normal.y * on.y;
  }
  return out;
}

FundusCrop make_crop(const FieldBounds& bounds, std::int32_t side) {
  return {bounds.center, side / (2 * bounds.radius), side};
}

std::vector<std::uint8_t> crop(const Photograph& photograph, const FundusCrop& how) {
  // docs/design/fundus.md gives the reasons for the constants of this file.
  constexpr std::int32_t kParts = 32;
  struct Place {
    std::int64_t first = 0;
    std::int32_t weight = 0;  // weight of the second, in parts
  };
  const auto places = [&](double offset) {
    std::vector<Place> out(static_cast<std::size_t>(how.side));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t at = std::lrint((offset + static_cast<double>(i) / how.scale) * kParts);
      out[i] = {at >> 5, static_cast<std::int32_t>(at & (kParts - 1))};
    }
    return out;
  };
  const auto side = static_cast<std::size_t>(how.side);
  std::vector<std::uint8_t> out(side * side * 3);
  const FundusPoint first = how.to_photograph(FundusPoint{0, 0});
  const std::vector<Place> columns = places(first.x), rows = places(first.y);
  const std::int64_t width = photograph.width, height = photograph.height;
  const auto sample = [&](std::int64_t x, std::int64_t y, std::size_t c) -> std::int32_t {
    if (x < 0 || y < 0 || x >= width || y >= height) return 0;
    return photograph.pixels[static_cast<std::size_t>(y * width + x) * 3 + c];
  };
  for (std::size_t y = 0; y < side; ++y) {
    const Place& row = rows[y];
    if (row.first < -1 || row.first >= height) continue;
    const bool inner_row = row.first >= 0 && row.first + 1 < height;
    const std::int32_t down = row.weight, up = kParts - down;
    std::uint8_t* to = out.data() + y * side * 3;
    for (std::size_t x = 0; x < side; ++x) {
      const Place& column = columns[x];
      if (column.first < -1 || column.first >= width) continue;
      const std::int32_t right = column.weight, left = kParts - right;
      const bool inner = inner_row && column.first >= 0 && column.first + 1 < width;
      for (std::size_t c = 0; c < 3; ++c) {
        std::int32_t sum = 0;
        if (inner) {
          const std::uint8_t* at =
              photograph.pixels + static_cast<std::size_t>(row.first * width + column.first) * 3 + c;
          sum = (at[0] * left + at[3] * right) * up + (at[3 * width] * left + at[3 * width + 3] * right) * down;
        } else {
          sum = (sample(column.first, row.first, c) * left + sample(column.first + 1, row.first, c) * right) * up +
                (sample(column.first, row.first + 1, c) * left + sample(column.first + 1, row.first + 1, c) * right) *
                    down;
        }
        to[3 * x + c] = static_cast<std::uint8_t>((sum + kParts * kParts / 2) / (kParts * kParts));
      }
    }
  }
  return out;
}

FundusCrop make_whole_crop(std::int32_t width, std::int32_t height, std::int32_t side) {
  FundusCrop out;
  out.side = side;
  out.scale = side / static_cast<double>(std::max(width, height));
  // Outer edges of pixels are mapped onto each other, not the pixels' middles.
  const double half = 0.5 / out.scale;
  out.center = {(width - 1) / 2.0 + half, (height - 1) / 2.0 + half};
  return out;
}

std::vector<CropInverse::Tap> CropInverse::taps(std::int32_t count, double offset, double step, std::int32_t side) {
  std::vector<Tap> out(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) {
    const double at = offset + step * i;
    if (at < -0.5 || at > side - 0.5) continue;
    // The half pixel at an edge has the value of its outermost pixel.
    const double inside = std::clamp(at, 0.0, static_cast<double>(side - 1));
    const auto first = static_cast<std::int32_t>(inside);
    out[static_cast<std::size_t>(i)] = {first, std::min(first + 1, side - 1), static_cast<float>(inside - first)};
  }
  return out;
}

CropInverse::CropInverse(const FundusCrop& how, std::int32_t width, std::int32_t height) : side_(how.side) {
  const FundusPoint first = how.from_photograph(FundusPoint{0, 0});
  columns_ = taps(width, first.x, how.scale, side_);
  rows_ = taps(height, first.y, how.scale, side_);
}

void CropInverse::row(const float* plane, std::int32_t y, float* out) const {
  const Tap& row = rows_[static_cast<std::size_t>(y)];
  if (row.first < 0) {
    std::fill_n(out, columns_.size(), 0.0F);
    return;
  }
  const float *above = plane + std::ptrdiff_t{row.first} * side_, *below = plane + std::ptrdiff_t{row.second} * side_;
  for (std::size_t x = 0; x < columns_.size(); ++x) {
    const Tap& column = columns_[x];
    if (column.first < 0) {
      out[x] = 0;
      continue;
    }
    const float upper = above[column.first] + (above[column.second] - above[column.first]) * column.weight,
                lower = below[column.first] + (below[column.second] - below[column.first]) * column.weight;
    out[x] = upper + (lower - upper) * row.weight;
  }
}

}  // namespace millrace::fundus
