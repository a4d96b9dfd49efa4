#include <cmath>

#include "src/kernels/similarity/similarity_coarse_maps.h"
#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

// Returns the correlation over the part of a that lies in the window and that b, mapped, covers.
double correlation(const CoarseRaster& a, const CoarseRaster& b, MapEnds ex, MapEnds ey, const CoarseWindow& window) {
  const AxisMap mx = map_axis(ex), my = map_axis(ey);
  double n = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (int y = std::max(my.first, window.y.begin); y < std::min(my.last + 1, window.y.end); ++y) {
    for (int x = std::max(mx.first, window.x.begin); x < std::min(mx.last + 1, window.x.end); ++x) {
      const auto kx = static_cast<std::size_t>(x), ky = static_cast<std::size_t>(y);
      const auto part_x = static_cast<double>(mx.part[kx]), part_y = static_cast<double>(my.part[ky]);
      const auto across = [&](int row) {
        const float* p = b.row(row) + mx.index[kx];
        return (1 - part_x) * static_cast<double>(p[0]) + part_x * static_cast<double>(p[1]);
      };
      const double vb = (1 - part_y) * across(my.index[ky]) + part_y * across(my.index[ky] + 1);
      const auto va = static_cast<double>(a.row(y)[x]);
      n += 1;
      sa += va;
      sb += vb;
      saa += va * va;
      sbb += vb * vb;
      sab += va * vb;
    }
  }
  if (n == 0) return 0;
  const double vaa = saa / n - sa / n * sa / n + 0.25, vbb = sbb / n - sb / n * sb / n + 0.25;
  return (sab / n - sa / n * sb / n) / std::sqrt(vaa * vbb);
}

}  // namespace

CoarseMatch search_coarsely_reference(const Features& a, const Features& b) {
  MapEnds ex, ey;
  CoarseWindow window = kWindows[0];
  double found = 0;
  for (const CoarseWindow& w : kWindows) {
    const double value = correlation(a.coarse, b.coarse, ex, ey, w);
    if (std::fabs(value) > std::fabs(found)) {
      found = value;
      window = w;
    }
    if (std::fabs(found) >= 0.8) break;
  }
  const double sign = found < 0 ? -1 : 1;
  double best = std::fabs(found);
  const auto consider = [&](MapEnds x, MapEnds y) {
    const double value = sign * correlation(a.coarse, b.coarse, x, y, window);
    if (value <= best) return;
    best = value;
    ex = x;
    ey = y;
  };
  const auto finish = [&] { return CoarseMatch{warp_of(ex, ey), static_cast<float>(sign * best)}; };
  const MapEnds fx = ends_between(a.content[0], a.content[2], b.content[0], b.content[2]);
  const MapEnds fy = ends_between(a.content[1], a.content[3], b.content[1], b.content[3]);
  if (fx.low != 0 || fx.high != 0 || fy.low != 0 || fy.high != 0) {
    const CoarseWindow met = window;
    const double before = best;
    window = kWindows[0];
    consider(fx, fy);
    if (best == before) window = met;
  }
  if (best >= 0.97) return finish();
  for (const CoarseScale& scale : kScales) consider(scale.ends, scale.ends);
  if (best >= 0.97 || best < static_cast<double>(kHopeless)) return finish();
  const MapEnds y_before = ey;
  for (const MapEnds ends : kAllMoves.ends) consider(ends, y_before);
  const MapEnds x_before = ex;
  for (const MapEnds ends : kAllMoves.ends) consider(x_before, ends);
  return finish();
}

}  // namespace millrace::similarity
