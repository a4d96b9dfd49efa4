#include <algorithm>
#include <cmath>

#include "src/kernels/elementary.h"
#include "src/kernels/fundus/field_bounds.h"

namespace millrace::fundus {
namespace {

constexpr int kMiddle = kSide / 2;

// Scales the photograph to levels of 0 to 255, from positions to a 32nd of a pixel.
std::vector<std::uint8_t> scaled(const BytePlane& red) {
  // docs/design/fundus.md gives the reasons for the constants of this file.
  constexpr int kParts = 32;
  std::vector<std::uint8_t> out(std::size_t{kSide} * kSide);
  const double step = static_cast<double>(std::max(red.width, red.height)) / kSide;
  struct Tap {
    std::int64_t first = 0;
    std::int32_t weight = 0;  // weight of the second, in parts
  };
  const auto taps = [&](std::int32_t length) {
    std::array<Tap, kSide> each;
    const std::int32_t half = length / 2;
    for (int i = 0; i < kSide; ++i) {
      const std::int64_t at = std::llrint((static_cast<double>(i - kMiddle) * step + half) * kParts);
      each[static_cast<std::size_t>(i)] = {at >> 5, static_cast<std::int32_t>(at & (kParts - 1))};
    }
    return each;
  };
  const auto columns = taps(red.width), rows = taps(red.height);
  const auto at = [&](std::int64_t x, std::int64_t y) -> std::int32_t {
    if (x < 0 || y < 0 || x >= red.width || y >= red.height) return 0;
    return red.samples[static_cast<std::ptrdiff_t>(y) * red.row + static_cast<std::ptrdiff_t>(x) * red.step];
  };
  std::uint8_t* to = out.data();
  for (const Tap& row : rows) {
    for (const Tap& column : columns) {
      const std::int32_t right = column.weight, left = kParts - right, below = row.weight, above = kParts - below;
      const std::int32_t sum =
          at(column.first, row.first) * above * left + at(column.first + 1, row.first) * above * right +
          at(column.first, row.first + 1) * below * left + at(column.first + 1, row.first + 1) * below * right;
      *to++ = static_cast<std::uint8_t>((sum + kParts * kParts / 2) / (kParts * kParts));
    }
  }
  return out;
}

}  // namespace

FundusPoint point_at(int angle, double step) {
  static const std::array<FundusPoint, kAngles> kDirections = [] {
    std::array<FundusPoint, kAngles> out;
    for (int a = 0; a < kAngles; ++a)
      out[static_cast<std::size_t>(a)] = {cosine_of_turn(a, kAngles), sine_of_turn(a, kAngles)};
    return out;
  }();
  const FundusPoint& direction = kDirections[static_cast<std::size_t>(angle)];
  const double radius = step * kStep;
  return {radius * direction.x, radius * direction.y};
}

PolarImage to_polar(const BytePlane& red) {
  const std::vector<std::uint8_t> pixels = scaled(red);
  PolarImage out(std::size_t{kAngles} * kRadii);
  double most = 0;
  for (int a = 0; a < kAngles; ++a) {
    for (int r = 0; r < kRadii; ++r) {
      const FundusPoint at = point_at(a, r);
      // The nearest pixel is taken; halves go to the even one.
      const long x = std::lrint(at.x + kMiddle), y = std::lrint(at.y + kMiddle);
      if (x < 0 || y < 0 || x >= kSide || y >= kSide) continue;
      const double value = pixels[static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x)];
      out[static_cast<std::size_t>(a) * kRadii + static_cast<std::size_t>(r)] = value;
      if (r >= kMinRadius) most = std::max(most, value);
    }
  }
  if (most > 0)
    for (double& each : out) each /= most;
  return out;
}

}  // namespace millrace::fundus
