#include <algorithm>
#include <cmath>

#include "src/kernels/elementary.h"
#include "src/kernels/fundus/bounds.h"

namespace millrace::fundus {
namespace {

constexpr double kMiddle = kSide / 2.0;

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
      const double x = (u - kMiddle) * step + red.width / 2.0, y = (v - kMiddle) * step + red.height / 2.0;
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
  static const std::array<Point, kAngles> kDirections = [] {
    std::array<Point, kAngles> out;
    for (int a = 0; a < kAngles; ++a)
      out[static_cast<std::size_t>(a)] = {cosine_of_turn(a, kAngles), sine_of_turn(a, kAngles)};
    return out;
  }();
  const Point& direction = kDirections[static_cast<std::size_t>(angle)];
  const double radius = step * kStep;
  return {radius * direction.x, radius * direction.y};
}

Polar polar_of(const Plane& red) {
  const std::vector<float> pixels = scaled(red);
  Polar out(std::size_t{kAngles} * kRadii);
  for (int a = 0; a < kAngles; ++a) {
    for (int r = 0; r < kRadii; ++r) {
      const Point at = point_at(a, r);
      out[static_cast<std::size_t>(a) * kRadii + static_cast<std::size_t>(r)] =
          static_cast<float>(sample(pixels.data(), at.x + kMiddle, at.y + kMiddle));
    }
  }
  return out;
}

}  // namespace millrace::fundus
