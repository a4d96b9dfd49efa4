#include <algorithm>
#include <cmath>

#include "src/kernels/alike/alike_steps.h"

namespace millrace::alike {
namespace {

// Below this, identity and plain scales promise nothing and the search ends: no true pair of the
// measurement that was saved later began lower.
constexpr float kHopeless = 0.35F;

// One axis of a coarse hypothesis: its two ends move by these shares of the side.
struct Ends {
  float low = 0, high = 0;
};

// The ends that bring [a0, a1] to [b0, b1], all relative to the middle.
Ends ends_between(float a0, float a1, float b0, float b1) {
  const float scale = (b1 - b0) / (a1 - a0);
  return {b0 + (-0.5F - a0) * scale + 0.5F, b1 + (0.5F - a1) * scale - 0.5F};
}

struct AxisMap {
  std::array<int, 16> index;   // of the lower of the two samples
  std::array<float, 16> part;  // of the upper one
  int first = 16, last = -1;   // the samples that lie inside
};

AxisMap map_axis(Ends ends) {
  AxisMap out;
  for (int i = 0; i < 16; ++i) {
    const float at = (static_cast<float>(i) + 0.5F) * (1.0F / 16.0F);
    const float to = (at + ends.low + (ends.high - ends.low) * at) * 16.0F - 0.5F;
    const bool inside = to >= -0.5F && to <= 15.5F;
    const float held = to < 0 ? 0.0F : (to > 15 ? 15.0F : to);
    const int low = std::min(14, static_cast<int>(held));
    const auto k = static_cast<std::size_t>(i);
    out.index[k] = low;
    out.part[k] = held - static_cast<float>(low);
    if (inside) {
      out.first = std::min(out.first, i);
      out.last = i;
    }
  }
  return out;
}

// Part of the raster that a correlation looks at: [x0, x1) by [y0, y1).
struct Window {
  int x0, x1, y0, y1;
};
// All of it; without a frame; without a caption below or above.
constexpr std::array<Window, 4> kWindows = {{{0, 16, 0, 16}, {2, 14, 2, 14}, {0, 16, 0, 13}, {0, 16, 3, 16}}};

float correlation(const Features& a, const Features& b, const AxisMap& mx, const AxisMap& my, const Window& window) {
  float sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  const int x0 = std::max(mx.first, window.x0), x1 = std::min(mx.last + 1, window.x1);
  const int y0 = std::max(my.first, window.y0), y1 = std::min(my.last + 1, window.y1);
  if (x1 <= x0 || y1 <= y0) return 0;
  std::array<float, 16> row;
  for (int y = y0; y < y1; ++y) {
    const auto ky = static_cast<std::size_t>(y);
    const float* upper = b.coarse.data() + my.index[ky] * 16;
    const float part = my.part[ky];
    for (std::size_t x = 0; x < 16; ++x) row[x] = upper[x] + part * (upper[x + 16] - upper[x]);
    const float* ra = a.coarse.data() + y * 16;
    for (int x = x0; x < x1; ++x) {
      const auto kx = static_cast<std::size_t>(x);
      const auto low = static_cast<std::size_t>(mx.index[kx]);
      const float vb = row[low] + mx.part[kx] * (row[low + 1] - row[low]) - 128.0F;
      const float va = ra[x] - 128.0F;
      sa += va;
      sb += vb;
      saa += va * va;
      sbb += vb * vb;
      sab += va * vb;
    }
  }
  const float n = static_cast<float>((x1 - x0) * (y1 - y0));
  // A variance of a quarter of a level is added to both: what noise alone would correlate.
  const float vaa = saa - sa * sa / n + 0.25F * n;
  const float vbb = sbb - sb * sb / n + 0.25F * n;
  return (sab - sa * sb / n) / std::sqrt(vaa * vbb);
}

Warp warp_of(Ends x, Ends y) {
  Warp w;
  w.m = {0.5F * (x.low + x.high), 1 + (x.high - x.low), 0, 0.5F * (y.low + y.high), 0, 1 + (y.high - y.low)};
  w.m = {w.m[0], w.m[1], 0, w.m[3], 0, w.m[5]};
  return w;
}

}  // namespace

Coarse search_coarsely(const Features& a, const Features& b) {
  Ends ex, ey;
  AxisMap mx = map_axis(ex), my = map_axis(ey);
  // The window in which identity fits best, all of the picture where that is good enough.
  float signed_best = 0;
  Window window = kWindows[0];
  for (const Window& w : kWindows) {
    const float value = correlation(a, b, mx, my, w);
    if (std::fabs(value) > std::fabs(signed_best)) {
      signed_best = value;
      window = w;
    }
    if (std::fabs(signed_best) >= 0.8F) break;
  }
  float best = std::fabs(signed_best);
  const float sign = signed_best < 0 ? -1.0F : 1.0F;
  const auto finish = [&] { return Coarse{warp_of(ex, ey), sign * best}; };
  // Frames: what one encloses is laid on what the other does.
  const Ends bx = ends_between(a.content[0], a.content[2], b.content[0], b.content[2]);
  const Ends by = ends_between(a.content[1], a.content[3], b.content[1], b.content[3]);
  if (bx.low != 0 || bx.high != 0 || by.low != 0 || by.high != 0) {
    const AxisMap fx = map_axis(bx), fy = map_axis(by);
    const float value = sign * correlation(a, b, fx, fy, kWindows[0]);
    if (value > best) {
      best = value;
      window = kWindows[0];
      ex = bx;
      ey = by;
      mx = fx;
      my = fy;
    }
  }
  // Registration closes what is left from here: no need to search.
  if (best >= 0.97F) return finish();
  for (const float scale : {0.04F, -0.04F, 0.08F, -0.08F, 0.12F, -0.12F}) {
    const Ends ends{-0.5F * scale, 0.5F * scale};
    const AxisMap map = map_axis(ends);
    const float value = sign * correlation(a, b, map, map, window);
    if (value > best) {
      best = value;
      ex = ey = ends;
      mx = my = map;
    }
  }
  if (best >= 0.97F || best < kHopeless) return finish();
  constexpr std::array<float, 5> kMoves = {-0.08F, -0.04F, 0.0F, 0.04F, 0.08F};
  for (int axis = 0; axis < 2; ++axis) {
    for (const float low : kMoves) {
      for (const float high : kMoves) {
        const Ends ends{low, high};
        const AxisMap map = map_axis(ends);
        const float value =
            sign * (axis == 0 ? correlation(a, b, map, my, window) : correlation(a, b, mx, map, window));
        if (value > best) {
          best = value;
          (axis == 0 ? ex : ey) = ends;
        }
      }
    }
    mx = map_axis(ex);
    my = map_axis(ey);
  }
  return finish();
}

}  // namespace millrace::alike
