#include <cmath>

#include "src/kernels/similarity/similarity_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/similarity/similarity_coarse.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"
#include "src/kernels/similarity/similarity_coarse_maps.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::similarity::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;
namespace {

using Row = Floats<16>;

// Sums over rows, column by column.
struct Columns {
  Row a, b, aa, bb, ab;

  HWY_INLINE Columns() { a = b = aa = bb = ab = Row::all(0); }
  HWY_INLINE void add_rows(const Row& ra, const Row& rb) {
    a += ra;
    b += rb;
    aa += ra * ra;
    bb += rb * rb;
    ab += ra * rb;
  }
  HWY_INLINE void add(const Columns& other) {
    a += other.a;
    b += other.b;
    aa += other.aa;
    bb += other.bb;
    ab += other.ab;
  }
};

HWY_INLINE float size_of(float v) { return std::fabs(v); }

// Returns the square of the correlation of one or more lots of samples, with its sign: comparing needs no root. `share`
// is one over the number of samples.
template <class T>
HWY_INLINE T signed_square(const T& share, const T& a, const T& b, const T& aa, const T& bb, const T& ab,
                           const T& noise) {
  const T vaa = (aa - a * a * share) * share + noise, vbb = (bb - b * b * share) * share + noise;
  const T vab = (ab - a * b * share) * share;
  return vab * size_of(vab) / (vaa * vbb);
}
// Variance of noise, added to either variance, so that noise alone does not correlate.
// docs/design/similarity.md gives the reasons for the constants of this file.
constexpr float kNoise = 0.25F;

float root(float square) { return square < 0 ? -std::sqrt(-square) : std::sqrt(square); }

HWY_INLINE float correlation(const Columns& sums, LaneRange x, LaneRange y) {
  const Row in = Row::within(x.begin, x.end);
  const float share = 1.0F / static_cast<float>((x.end - x.begin) * (y.end - y.begin));
  return root(signed_square(share, (in * sums.a).total(), (in * sums.b).total(), (in * sums.aa).total(),
                            (in * sums.bb).total(), (in * sums.ab).total(), kNoise));
}

LaneRange met(LaneRange range, const AxisMap& map) {
  return {std::max(range.begin, map.first), std::min(range.end, map.last + 1)};
}

// Returns row y of the mapped raster.
HWY_INLINE Row laid_row(const CoarseRaster& raster, const AxisMap& map, int y) {
  const auto k = static_cast<std::size_t>(y);
  const Row upper = Row::at(raster.row(map.index[k])), lower = Row::at(raster.row(map.index[k] + 1));
  return upper + Row::all(map.part[k]) * (lower - upper);
}

float correlation_scaled(const CoarseRaster& a, const CoarseRaster& b, const CoarseScale& scale,
                         const CoarseWindow& window) {
  const LaneRange across = met(window.x, scale.map), down = met(window.y, scale.map);
  const Row before = Row::at(scale.band[kReach - 1].data()), here = Row::at(scale.band[kReach].data()),
            after = Row::at(scale.band[kReach + 1].data());
  CoarseRaster scaled;
  for (int y = 0; y < CoarseRaster::kSide; ++y) {
    const float* row = b.row(y);
    (before * Row::at(row - 1) + here * Row::at(row) + after * Row::at(row + 1)).put(scaled.row(y));
  }
  Columns sums;
  for (int y = down.begin; y < down.end; ++y) sums.add_rows(Row::at(a.row(y)), laid_row(scaled, scale.map, y));
  return correlation(sums, across, down);
}

// Correlates under any maps, slowly: frames are rare.
float correlation_mapped(const CoarseRaster& a, const CoarseRaster& b, const AxisMap& mx, const AxisMap& my) {
  const LaneRange across = met(kWindows[0].x, mx), down = met(kWindows[0].y, my);
  if (across.begin >= across.end || down.begin >= down.end) return 0;
  Columns sums;
  std::array<float, 16> row, moved;
  for (int y = down.begin; y < down.end; ++y) {
    laid_row(b, my, y).put(row.data());
    for (std::size_t x = 0; x < 16; ++x) {
      const auto low = static_cast<std::size_t>(mx.index[x]);
      moved[x] = row[low] + mx.part[x] * (row[low + 1] - row[low]);
    }
    sums.add_rows(Row::at(a.row(y)), Row::at(moved.data()));
  }
  return correlation(sums, across, down);
}

// Window in which identity fits best; all of the picture where that is good enough.
struct Identity {
  std::size_t window = 0;
  float correlation = 0;
};
Identity best_window(const CoarseRaster& a, const CoarseRaster& b) {
  Columns between[kWindowRows.size() - 1];
  for (std::size_t k = 0; k + 1 < kWindowRows.size(); ++k) {
    for (int y = kWindowRows[k]; y < kWindowRows[k + 1]; ++y) between[k].add_rows(Row::at(a.row(y)), Row::at(b.row(y)));
  }
  Identity out;
  for (std::size_t w = 0; w < kWindows.size() && std::fabs(out.correlation) < 0.8F; ++w) {
    const CoarseWindow& window = kWindows[w];
    Columns sums;
    for (std::size_t k = 0; k + 1 < kWindowRows.size(); ++k) {
      if (kWindowRows[k] >= window.y.begin && kWindowRows[k + 1] <= window.y.end) sums.add(between[k]);
    }
    const float value = correlation(sums, window.x, window.y);
    if (std::fabs(value) > std::fabs(out.correlation)) out = {w, value};
  }
  return out;
}

// Sums over rows along an axis, from which all of its moves are computed: of a, of b, and of a times b some samples
// along.
struct MoveSums {
  alignas(64) std::array<float, 16> a, aa, b, bb, next;
  alignas(64) std::array<std::array<float, 16>, kDiagonals> ab;
  float all_a, all_aa;
};
void sum_for_moves(const CoarseRaster& a, const CoarseRaster& b, const AxisMap& map, LaneRange along, LaneRange rows,
                   MoveSums& out) {
  CoarseRaster laid;
  for (int y = rows.begin; y < rows.end; ++y) laid_row(b, map, y).put(laid.row(y));
  Columns sums;
  Row next = sums.a;
  Row ab[kDiagonals] = {next, next, next, next, next};
  for (int y = rows.begin; y < rows.end; ++y) {
    const float* row = laid.row(y);
    const Row ra = Row::at(a.row(y)), rb = Row::at(row);
    sums.a += ra;
    sums.aa += ra * ra;
    sums.b += rb;
    sums.bb += rb * rb;
    next += rb * Row::at(row + 1);
    for (std::size_t d = 0; d < kDiagonals; ++d) ab[d] += ra * Row::at(row + d - kReach);
  }
  sums.a.put(out.a.data());
  sums.aa.put(out.aa.data());
  sums.b.put(out.b.data());
  sums.bb.put(out.bb.data());
  next.put(out.next.data());
  for (std::size_t d = 0; d < kDiagonals; ++d) ab[d].put(out.ab[d].data());
  const Row in = Row::within(along.begin, along.end);
  out.all_a = (in * sums.a).total();
  out.all_aa = (in * sums.aa).total();
}

// Best of all moves of one axis, with `map` kept on the other.
struct Moved {
  MapEnds ends;
  float correlation = 0;
};
Moved best_move(const CoarseRaster& a, const CoarseRaster& b, const AxisMap& map, LaneRange along, LaneRange other,
                const RangeMoves& in_range, float sign) {
  using Lot = Floats<kMoveLanes>;
  const LaneRange rows = met(other, map);
  if (rows.begin >= rows.end) return {};
  MoveSums sums;
  sum_for_moves(a, b, map, along, rows, sums);
  const Lot none = Lot::all(0);
  Lot ab[kDiagonals] = {none, none, none, none, none};
  for (auto i = static_cast<std::size_t>(along.begin); i < static_cast<std::size_t>(along.end); ++i) {
    for (std::size_t d = 0; d < kDiagonals; ++d)
      ab[d] += Lot::at(kAllMoves.weight[i][d].data()) * Lot::all(sums.ab[d][i]);
  }
  Lot b1 = none, b2 = none, products = none;
  for (std::size_t i = 0; i < 16; ++i) {
    b1 += Lot::at(in_range.once[i].data()) * Lot::all(sums.b[i]);
    b2 += Lot::at(in_range.square[i].data()) * Lot::all(sums.bb[i]);
    products += Lot::at(in_range.product[i].data()) * Lot::all(sums.next[i]);
  }
  const auto width = static_cast<float>(along.end - along.begin), height = static_cast<float>(rows.end - rows.begin);
  const Lot first = Lot::at(in_range.lost_first.data()), last = Lot::at(in_range.lost_last.data());
  const Lot share = Lot::all(1.0F) / ((Lot::all(width) - first - last) * Lot::all(height));
  const Lot a1 = Lot::all(sums.all_a) - first * Lot::all(sums.a[0]) - last * Lot::all(sums.a[15]);
  const Lot a2 = Lot::all(sums.all_aa) - first * Lot::all(sums.aa[0]) - last * Lot::all(sums.aa[15]);
  const Lot sab = (ab[0] + ab[1]) + (ab[3] + ab[4]) + ab[2];
  alignas(64) MoveLanes square;
  (Lot::all(sign) * signed_square(share, a1, b1, a2, b2 + products, sab, Lot::all(kNoise))).put(square.data());
  std::size_t best = 0;
  for (std::size_t m = 1; m < kMoves; ++m) {
    if (square[m] > square[best]) best = m;
  }
  return {kAllMoves.ends[best], root(square[best])};
}

}  // namespace

CoarseMatch SearchCoarsely(const Features& a, const Features& b) {
  MapEnds ex, ey;
  const Identity as_is = best_window(a.coarse, b.coarse);
  std::size_t window = as_is.window;
  float best = std::fabs(as_is.correlation);
  const float sign = as_is.correlation < 0 ? -1.0F : 1.0F;
  const auto finish = [&] { return CoarseMatch{warp_of(ex, ey), sign * best}; };
  // Frames: the content inside one picture's frame is mapped onto the content inside the other's.
  const MapEnds bx = ends_between(a.content[0], a.content[2], b.content[0], b.content[2]);
  const MapEnds by = ends_between(a.content[1], a.content[3], b.content[1], b.content[3]);
  if (bx.low != 0 || bx.high != 0 || by.low != 0 || by.high != 0) {
    const float value = sign * correlation_mapped(a.coarse, b.coarse, map_axis(bx), map_axis(by));
    if (value > best) {
      best = value;
      window = 0;
      ex = bx;
      ey = by;
    }
  }
  // Registration closes the remaining gap from here, so no search is needed.
  if (best >= 0.97F) return finish();
  const CoarseWindow& part = kWindows[window];
  for (const CoarseScale& scale : kScales) {
    const float value = sign * correlation_scaled(a.coarse, b.coarse, scale, part);
    if (value > best) {
      best = value;
      ex = ey = scale.ends;
    }
  }
  if (best >= 0.97F || best < kHopeless) return finish();
  const Moved across = best_move(a.coarse, b.coarse, map_axis(ey), part.x, part.y, kMovesAcross[window], sign);
  if (across.correlation > best) {
    best = across.correlation;
    ex = across.ends;
  }
  const Moved down =
      best_move(a.coarse_turned, b.coarse_turned, map_axis(ex), part.y, part.x, kMovesDown[window], sign);
  if (down.correlation > best) {
    best = down.correlation;
    ey = down.ends;
  }
  return finish();
}

}  // namespace millrace::similarity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::similarity {

HWY_EXPORT(SearchCoarsely);

CoarseMatch search_coarsely(const Features& a, const Features& b) { return HWY_DYNAMIC_DISPATCH(SearchCoarsely)(a, b); }

}  // namespace millrace::similarity
#endif
