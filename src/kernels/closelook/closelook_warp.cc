#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pixel.h"
#include "src/kernels/closelook/closelook_steps.h"

namespace millrace::closelook {

double Affine::scale() const { return std::sqrt(std::fabs(m[0] * m[4] - m[1] * m[3])); }

Affine Affine::inverse() const {
  const double share = 1 / (m[0] * m[4] - m[1] * m[3]);
  Affine out;
  out.m = {m[4] * share, -m[1] * share, 0, -m[3] * share, m[0] * share, 0};
  out.m[2] = -(out.m[0] * m[2] + out.m[1] * m[5]);
  out.m[5] = -(out.m[3] * m[2] + out.m[4] * m[5]);
  return out;
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

Span1 inside_row(const Affine& warp, int y, int width, int other_width, int other_height, double margin) {
  const auto inside = [&](int x) {
    const double u = warp.u(x, y), v = warp.v(x, y);
    return u >= -margin && v >= -margin && u <= other_width - 1 + margin && v <= other_height - 1 + margin;
  };
  Span1 out{0, width};
  while (out.begin < out.end && !inside(out.begin)) ++out.begin;
  while (out.end > out.begin && !inside(out.end - 1)) --out.end;
  return out;
}

namespace {

int held(int at, int size) { return at < 0 ? 0 : (at >= size ? size - 1 : at); }

// Where a pixel of a row lies in the other raster: the whole part and what is left. What lies far outside is held to
// the edge's neighbourhood, so that it fits an int.
struct Spot {
  int x, y;
  float across, down;
};
Spot spot_of(const Affine& warp, int x, int y, int width, int height) {
  const double u = std::clamp(warp.u(x, y), -4.0, width + 4.0), v = std::clamp(warp.v(x, y), -4.0, height + 4.0);
  const int iu = static_cast<int>(u + 8) - 8, iv = static_cast<int>(v + 8) - 8;
  return {iu, iv, static_cast<float>(u - iu), static_cast<float>(v - iv)};
}

}  // namespace

namespace {

// Keys' kernel with a = -0.75, as is common for pictures: the four weights as polynomials of the way between the two
// middle ones.
Pixel cubic_weights(float t) {
  constexpr float a = -0.75F;
  const Pixel first = {a, 0, -a, 0}, second = {-2 * a, -(a + 3), 2 * a + 3, a}, third = {a, a + 2, -(a + 2), -a};
  const Pixel none = {0, 1, 0, 0};
  return none + t * (first + t * (second + t * third));
}

}  // namespace

void interleave(const Colour& from, Interleaved& to) {
  to.width = from[0].width();
  to.height = from[0].height();
  const std::size_t size = static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height) * 4;
  to.values.resize(std::max(to.values.size(), size));
  float* out = to.values.data();
  for (int y = 0; y < to.height; ++y) {
    const float *r = from[0].row(y), *g = from[1].row(y), *b = from[2].row(y);
    for (int x = 0; x < to.width; ++x, out += 4) {
      put(Pixel{r[x], g[x], b[x], 0}, out);
    }
  }
}

void warp_cubic(const Interleaved& from, const Affine& warp, Colour& to) {
  const int w = from.width, h = from.height;
  for (int y = 0; y < to[0].height(); ++y) {
    float *r = to[0].row(y), *g = to[1].row(y), *b = to[2].row(y);
    for (int x = 0; x < to[0].width(); ++x) {
      const Spot s = spot_of(warp, x, y, w, h);
      const Pixel across = cubic_weights(s.across), down = cubic_weights(s.down);
      const int left = s.x - 1, top = s.y - 1;
      const bool within = left >= 0 && left + 3 < w;
      Pixel sum = {0, 0, 0, 0};
      for (int j = 0; j < 4; ++j) {
        const float* row =
            from.values.data() + static_cast<std::size_t>(held(top + j, h)) * static_cast<std::size_t>(w) * 4;
        Pixel line;
        if (within) {
          const float* const at = row + 4 * left;
          line = (across[0] * pixel_at(at) + across[1] * pixel_at(at + 4)) +
                 (across[2] * pixel_at(at + 8) + across[3] * pixel_at(at + 12));
        } else {
          line =
              (across[0] * pixel_at(row + 4 * held(left, w)) + across[1] * pixel_at(row + 4 * held(left + 1, w))) +
              (across[2] * pixel_at(row + 4 * held(left + 2, w)) + across[3] * pixel_at(row + 4 * held(left + 3, w)));
        }
        sum += down[j] * line;
      }
      r[x] = sum[0];
      g[x] = sum[1];
      b[x] = sum[2];
    }
  }
}

}  // namespace millrace::closelook
