#include <algorithm>
#include <cmath>
#include <cstring>

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

using Pixel = float __attribute__((vector_size(16)));

// Keys' kernel with a = -0.75, as is common for pictures: the four weights as polynomials of the way between the two
// middle ones.
Pixel cubic_weights(float t) {
  constexpr float a = -0.75F;
  const Pixel first = {a, 0, -a, 0}, second = {-2 * a, -(a + 3), 2 * a + 3, a}, third = {a, a + 2, -(a + 2), -a};
  const Pixel none = {0, 1, 0, 0};
  return none + t * (first + t * (second + t * third));
}

Pixel pixel_at(const float* row, int x) {
  Pixel out;
  std::memcpy(&out, row + static_cast<std::size_t>(x) * 4, sizeof out);
  return out;
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
      const Pixel pixel = {r[x], g[x], b[x], 0};
      std::memcpy(out, &pixel, sizeof pixel);
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
          line = (across[0] * pixel_at(row, left) + across[1] * pixel_at(row, left + 1)) +
                 (across[2] * pixel_at(row, left + 2) + across[3] * pixel_at(row, left + 3));
        } else {
          line = (across[0] * pixel_at(row, held(left, w)) + across[1] * pixel_at(row, held(left + 1, w))) +
                 (across[2] * pixel_at(row, held(left + 2, w)) + across[3] * pixel_at(row, held(left + 3, w)));
        }
        sum += down[j] * line;
      }
      r[x] = sum[0];
      g[x] = sum[1];
      b[x] = sum[2];
    }
  }
}

namespace {

// The part of each source pixel that a target pixel covers, along a side.
struct Cover {
  std::vector<int> first, count;
  std::vector<float> weight;  // each target pixel's, one after the other

  Cover(int from, int to) {
    const double each = static_cast<double>(from) / to;
    for (int i = 0; i < to; ++i) {
      const double begin = i * each, end = std::min<double>(from, (i + 1) * each);
      const int low = std::min(from - 1, static_cast<int>(begin));
      int n = 0;
      for (int k = low; k < from && k < end; ++k, ++n) {
        const double part = std::min<double>(end, k + 1) - std::max<double>(begin, k);
        weight.push_back(static_cast<float>(std::max(0.0, part) / (end - begin)));
      }
      first.push_back(low);
      count.push_back(n);
    }
  }
};

int shrunk_side(int side, double scale) { return std::max(8, static_cast<int>(side * scale + 0.5)); }

}  // namespace

void shrink(const Plane& from, double scale, Plane& to) {
  const int w = std::min(from.width(), shrunk_side(from.width(), scale));
  const int h = std::min(from.height(), shrunk_side(from.height(), scale));
  to.size(w, h);
  if (scale >= 1 || (w == from.width() && h == from.height())) {
    to.size(from.width(), from.height());
    for (int y = 0; y < from.height(); ++y) std::copy_n(from.row(y), from.width(), to.row(y));
    return;
  }
  const Cover across(from.width(), w), down(from.height(), h);
  std::vector<float> line(static_cast<std::size_t>(from.width()));
  const float* weight = down.weight.data();
  for (int y = 0; y < h; ++y) {
    const auto at = static_cast<std::size_t>(y);
    std::fill(line.begin(), line.end(), 0.0F);
    for (int k = 0; k < down.count[at]; ++k) {
      const float* row = from.row(down.first[at] + k);
      const float part = *weight++;
      for (std::size_t x = 0; x < line.size(); ++x) line[x] += part * row[x];
    }
    const float* share = across.weight.data();
    float* const out = to.row(y);
    for (int x = 0; x < w; ++x) {
      const auto i = static_cast<std::size_t>(x);
      const float* source = line.data() + across.first[i];
      float sum = 0;
      for (int k = 0; k < across.count[i]; ++k) sum += *share++ * source[k];
      out[x] = sum;
    }
  }
}

void shrink(const Colour& from, double scale, Colour& to) {
  for (std::size_t c = 0; c < 3; ++c) shrink(from[c], scale, to[c]);
}

Colour planes_of(const Raster& raster) {
  Colour out;
  for (std::size_t c = 0; c < 3; ++c) {
    out[c].size(raster.width, raster.height);
    const std::uint8_t* in = raster.rgb.data() + c;
    for (int y = 0; y < raster.height; ++y) {
      float* const row = out[c].row(y);
      for (int x = 0; x < raster.width; ++x, in += 3) row[x] = *in;
    }
  }
  return out;
}

Box content_box(const Colour& picture) {
  const int w = picture[0].width(), h = picture[0].height();
  constexpr float kWithin = 10;
  // How many lines from an edge on are plain; `at(line, place, channel)`.
  const auto run = [&](int lines, int length, const auto& at) {
    std::array<float, 3> colour;
    std::vector<float> values(static_cast<std::size_t>(length));
    for (std::size_t c = 0; c < 3; ++c) {
      for (int i = 0; i < length; ++i) values[static_cast<std::size_t>(i)] = at(0, i, c);
      std::nth_element(values.begin(), values.begin() + length / 2, values.end());
      colour[c] = values[static_cast<std::size_t>(length / 2)];
    }
    const int most = lines / 2 - 2;
    for (int line = 0; line < most; ++line) {
      for (int i = 0; i < length; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
          if (std::fabs(at(line, i, c) - colour[c]) > kWithin) return line;
        }
      }
    }
    return std::max(0, most);
  };
  const int top = run(h, w, [&](int y, int x, std::size_t c) { return picture[c].row(y)[x]; });
  const int bottom = run(h, w, [&](int y, int x, std::size_t c) { return picture[c].row(h - 1 - y)[x]; });
  const int left = run(w, h, [&](int x, int y, std::size_t c) { return picture[c].row(y)[x]; });
  const int right = run(w, h, [&](int x, int y, std::size_t c) { return picture[c].row(y)[w - 1 - x]; });
  if (h - top - bottom < 16 || w - left - right < 16) return {0, 0, w, h};
  return {left, top, w - right, h - bottom};
}

}  // namespace millrace::closelook
