#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/kernels/fundus/bounds.h"

namespace millrace::fundus {
namespace {

// What lies outside is black, as the world around a field of view is.
double sample(const float* pixels, double x, double y) {
  const double fx = std::floor(x), fy = std::floor(y);
  const auto left = static_cast<std::int64_t>(fx), top = static_cast<std::int64_t>(fy);
  const double wx = x - fx, wy = y - fy;
  const auto at = [&](std::int64_t column, std::int64_t row) -> double {
    if (column < 0 || row < 0 || column >= kSide || row >= kSide) return 0;
    return pixels[row * kSide + column];
  };
  return (1 - wy) * ((1 - wx) * at(left, top) + wx * at(left + 1, top)) +
         wy * ((1 - wx) * at(left, top + 1) + wx * at(left + 1, top + 1));
}

std::vector<float> scaled(const Plane& red) {
  std::vector<float> out(std::size_t{kSide} * kSide);
  const double step = static_cast<double>(std::max(red.width, red.height)) / kSide;
  const auto at = [&](std::int64_t x, std::int64_t y) -> double {
    if (x < 0 || y < 0 || x >= red.width || y >= red.height) return 0;
    return red.samples[static_cast<std::ptrdiff_t>(y) * red.row + static_cast<std::ptrdiff_t>(x) * red.step];
  };
  for (int v = 0; v < kSide; ++v) {
    for (int u = 0; u < kSide; ++u) {
      const double x = (u - kSide / 2) * step + red.width / 2.0, y = (v - kSide / 2) * step + red.height / 2.0;
      const double fx = std::floor(x), fy = std::floor(y);
      const auto left = static_cast<std::int64_t>(fx), top = static_cast<std::int64_t>(fy);
      const double wx = x - fx, wy = y - fy;
      const double value = (1 - wy) * ((1 - wx) * at(left, top) + wx * at(left + 1, top)) +
                           wy * ((1 - wx) * at(left, top + 1) + wx * at(left + 1, top + 1));
      out[static_cast<std::size_t>(v) * kSide + static_cast<std::size_t>(u)] = static_cast<float>(value / 255);
    }
  }
  return out;
}

}  // namespace

Point point_at(int angle, double step) {
  const double turn = 2 * std::numbers::pi * angle / kAngles, radius = step * kStep;
  return {radius * std::cos(turn), radius * std::sin(turn)};
}

Polar polar_of(const Plane& red) {
  const std::vector<float> pixels = scaled(red);
  Polar out(std::size_t{kAngles} * kRadii);
  for (int a = 0; a < kAngles; ++a) {
    for (int r = 0; r < kRadii; ++r) {
      const Point at = point_at(a, r);
      out[static_cast<std::size_t>(a) * kRadii + static_cast<std::size_t>(r)] =
          static_cast<float>(sample(pixels.data(), at.x + kSide / 2.0, at.y + kSide / 2.0));
    }
  }
  return out;
}

}  // namespace millrace::fundus
