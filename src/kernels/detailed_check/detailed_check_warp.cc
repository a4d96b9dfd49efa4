#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_pixel.h"
#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

double Affine::scale() const { return std::sqrt(std::fabs(m[0] * m[4] - m[1] * m[3])); }

Affine Affine::inverse() const {
  const double share = 1 / (m[0] * m[4] - m[1] * m[3]);
  Affine out;
  out.m = {m[4] * share, -m[1] * share, 0, -m[3] * share, m[0] * share, 0};
  out.m[2] = -(out.m[0] * m[2] + out.m[1] * m[5]);
  out.m[5] = -(out.m[3] * m[2] + out.m[4] * m[5]);
  return out;
}

bool Affine::is_whole_shift() const {
  return m[0] == 1 && m[1] == 0 && m[3] == 0 && m[4] == 1 && m[2] == std::floor(m[2]) && m[5] == std::floor(m[5]);
}

Affine Affine::snapped(double width, double height, double most) const {
  const double x = 0.5 * width, y = 0.5 * height;  // the middle decides the shift
  Affine out = shift(std::floor(u(x, y) - x + 0.5), std::floor(v(x, y) - y + 0.5));
  return max_corner_distance(*this, out, width, height) <= most ? out : *this;
}

double max_corner_distance(const Affine& one, const Affine& other, double width, double height) {
  double most = 0;
  for (const double x : {0.0, width}) {
    for (const double y : {0.0, height})
      most = std::max({most, std::fabs(one.u(x, y) - other.u(x, y)), std::fabs(one.v(x, y) - other.v(x, y))});
  }
  return most;
}

Affine then(const Affine& first, const Affine& second) {
  const auto &a = second.m, &b = first.m;
  Affine out;
  out.m = {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
           a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]};
  return out;
}

Affine Affine::rescaled(double from_x, double from_y, double to_x, double to_y) const {
  // Pixels are areas: their middles move by half of what their size changes.
  Affine back, forth;
  back.m = {1 / from_x, 0, 0.5 / from_x - 0.5, 0, 1 / from_y, 0.5 / from_y - 0.5};
  forth.m = {to_x, 0, 0.5 * to_x - 0.5, 0, to_y, 0.5 * to_y - 0.5};
  return then(then(back, *this), forth);
}

PixelSpan inside_row(const Affine& warp, int y, int width, int other_width, int other_height, double margin) {
  const auto inside = [&](int x) {
    const double u = warp.u(x, y), v = warp.v(x, y);
    return u >= -margin && v >= -margin && u <= other_width - 1 + margin && v <= other_height - 1 + margin;
  };
  PixelSpan out{0, width};
  while (out.begin < out.end && !inside(out.begin)) ++out.begin;
  while (out.end > out.begin && !inside(out.end - 1)) --out.end;
  return out;
}

Affine shift(double x, double y) {
  Affine out;
  out.m = {1, 0, x, 0, 1, y};
  return out;
}

PixelBox warp_box(const Affine& warp, const PixelBox& box, const Size& in) {
  // docs/design/detailed-check.md gives the reasons for the constants of this file.
  constexpr double kMaxBeyond = 12;
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const int x : {box.left, box.right}) {
    for (const int y : {box.top, box.bottom}) {
      left = std::min(left, warp.u(x, y));
      right = std::max(right, warp.u(x, y));
      top = std::min(top, warp.v(x, y));
      bottom = std::max(bottom, warp.v(x, y));
    }
  }
  return {static_cast<int>(std::clamp<double>(left - kMaxBeyond, 0, in.width)),
          static_cast<int>(std::clamp<double>(top - kMaxBeyond, 0, in.height)),
          static_cast<int>(std::clamp<double>(right + kMaxBeyond, 0, in.width)),
          static_cast<int>(std::clamp<double>(bottom + kMaxBeyond, 0, in.height))};
}

namespace {

// Keys' kernel with a = -0.75, as is common for pictures: the four weights as polynomials of the distance from the
// second pixel.
Pixel cubic_weights(float t) {
  constexpr float a = -0.75F;
  const Pixel first = {a, 0, -a, 0}, second = {-2 * a, -(a + 3), 2 * a + 3, a}, third = {a, a + 2, -(a + 2), -a};
  const Pixel none = {0, 1, 0, 0};
  return none + t * (first + t * (second + t * third));
}

}  // namespace

void interleave(const Colour& from, Interleaved& to) {
  constexpr int kPad = Interleaved::kPad;
  to.width = from[0].width();
  to.height = from[0].height();
  to.values.resize(std::max(to.values.size(), 4 * to.stride() * static_cast<std::size_t>(to.height + 2 * kPad)));
  for (int y = -kPad; y < to.height + kPad; ++y) {
    const int row = std::clamp(y, 0, to.height - 1);
    const float *r = from[0].row(row), *g = from[1].row(row), *b = from[2].row(row);
    float* out = to.values.data() + 4 * to.stride() * static_cast<std::size_t>(y + kPad);
    for (int x = -kPad; x < to.width + kPad; ++x, out += 4) {
      const int at = std::clamp(x, 0, to.width - 1);
      put(Pixel{r[at], g[at], b[at], 0}, out);
    }
  }
}

void warp_cubic(const Interleaved& from, const Affine& warp, Colour& to) {
  SamplePositions spots;
  const std::size_t stride = 4 * from.stride();
  for (int y = 0; y < to[0].height(); ++y) {
    find_sample_positions(warp, y, to[0].width(), from, spots);
    float *r = to[0].row(y), *g = to[1].row(y), *b = to[2].row(y);
    for (int x = 0; x < to[0].width(); ++x) {
      const auto i = static_cast<std::size_t>(x);
      const Pixel across = cubic_weights(spots.across[i]), down = cubic_weights(spots.down[i]);
      const float* at = from.values.data() + 4 * static_cast<std::size_t>(spots.first[i]);
      Pixel sum = {0, 0, 0, 0};
      for (int j = 0; j < 4; ++j, at += stride) {
        sum += down[j] * ((across[0] * pixel_at(at) + across[1] * pixel_at(at + 4)) +
                          (across[2] * pixel_at(at + 8) + across[3] * pixel_at(at + 12)));
      }
      // Beside an edge the kernel exceeds black and white.
      r[x] = std::clamp(sum[0], 0.0F, 255.0F);
      g[x] = std::clamp(sum[1], 0.0F, 255.0F);
      b[x] = std::clamp(sum[2], 0.0F, 255.0F);
    }
  }
}

}  // namespace millrace::detailed_check
