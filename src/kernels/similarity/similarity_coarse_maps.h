// Input: the shifts and scales that the coarse search tries.
// Output: tables of the positions at which each of them reads a raster of 16 x 16.
// Never: used from outside this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {

// Hypothesis about an axis: its two ends move by these shares of the side.
struct MapEnds {
  float low = 0, high = 0;
};

struct AxisMap {
  std::array<int, 16> index{};   // index of the lower of the two samples
  std::array<float, 16> part{};  // weight of the upper one
  int first = 16, last = -1;     // range of the samples that lie inside
};

constexpr AxisMap map_axis(MapEnds ends) {
  AxisMap out;
  for (int i = 0; i < CoarseRaster::kSide; ++i) {
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

// Correlation below which identity and plain scales promise nothing, and the search ends. In the measurement no true
// pair that was found later began lower.
// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr float kHopeless = 0.35F;

// Samples [begin, end) of an axis.
struct LaneRange {
  int begin, end;
};

// Part of the raster that a correlation covers.
struct CoarseWindow {
  LaneRange x, y;
};
// Windows: all of the raster; without a frame; without a caption below or above.
inline constexpr std::array<CoarseWindow, 4> kWindows = {
    {{{0, 16}, {0, 16}}, {{2, 14}, {2, 14}}, {{0, 16}, {0, 13}}, {{0, 16}, {3, 16}}}};

// Rows at which a window begins or ends.
inline constexpr std::array<int, 6> kWindowRows = {0, 2, 3, 13, 14, 16};

// Distance in samples at which moves of an axis read at most (scales: one), and the number of such offsets.
inline constexpr std::size_t kReach = CoarseRaster::kBeyond, kDiagonals = 2 * kReach + 1;

// Map as weights: sample i of the moved axis is the sum of weight[d][i] times sample i + d - kReach. Weights are 0
// where the map leaves the raster.
using Band = std::array<std::array<float, 16>, kDiagonals>;

constexpr Band band_of(const AxisMap& map) {
  Band out{};
  for (int i = std::max(0, map.first); i <= map.last; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::size_t d = kReach + static_cast<std::size_t>(map.index[k]) - k;
    out[d][k] = 1 - map.part[k];
    if (map.part[k] != 0) out[d + 1][k] = map.part[k];
  }
  return out;
}

// Hypothesis that scales both axes alike about the middle.
struct CoarseScale {
  MapEnds ends;
  AxisMap map;
  Band band;
};
inline constexpr std::array<CoarseScale, 6> kScales = [] {
  std::array<CoarseScale, 6> out{};
  constexpr std::array<float, 6> kBy = {0.04F, -0.04F, 0.08F, -0.08F, 0.12F, -0.12F};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].ends = {-0.5F * kBy[i], 0.5F * kBy[i]};
    out[i].map = map_axis(out[i].ends);
    out[i].band = band_of(out[i].map);
  }
  return out;
}();

// Moves of an axis, either end by each of five shares. A move is a lane, and all are tried at once: sums over the moved
// raster are weighted sums over the unmoved one.
inline constexpr std::size_t kMoves = 25, kMoveLanes = 32;
using MoveLanes = std::array<float, kMoveLanes>;

struct Moves {
  std::array<MapEnds, kMoves> ends{};
  alignas(64) std::array<std::array<MoveLanes, kDiagonals>, 16> weight{};  // weights by sample of the moved axis
};

constexpr Moves make_moves() {
  constexpr std::array<float, 5> kShares = {-0.08F, -0.04F, 0.0F, 0.04F, 0.08F};
  Moves out;
  for (std::size_t move = 0; move < kMoves; ++move) {
    out.ends[move] = {kShares[move / 5], kShares[move % 5]};
    const Band band = band_of(map_axis(out.ends[move]));
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t d = 0; d < kDiagonals; ++d) out.weight[i][d][move] = band[d][i];
    }
  }
  return out;
}
inline constexpr Moves kAllMoves = make_moves();

// Tables of all moves for a window's range on the moved axis.
struct RangeMoves {
  // Weights by sample before the move: of the sample in the sum, of its square, and of its product with the next
  // sample.
  alignas(64) std::array<MoveLanes, 16> once{}, square{}, product{};
  // Flags: 1 where the first or the last sample of the raster drops out, because it would come from outside; no other
  // samples drop out.
  alignas(64) MoveLanes lost_first{}, lost_last{};
};

constexpr RangeMoves moves_in(LaneRange range) {
  RangeMoves out;
  for (std::size_t move = 0; move < kMoves; ++move) {
    const AxisMap map = map_axis(kAllMoves.ends[move]);
    for (int i = std::max(range.begin, map.first); i < std::min(range.end, map.last + 1); ++i) {
      const auto k = static_cast<std::size_t>(i), at = static_cast<std::size_t>(map.index[k]);
      const float part = map.part[k], rest = 1 - part;
      out.once[at][move] += rest;
      out.once[at + 1][move] += part;
      out.square[at][move] += rest * rest;
      out.square[at + 1][move] += part * part;
      out.product[at][move] += 2 * rest * part;
    }
    out.lost_first[move] = map.first > range.begin ? 1.0F : 0.0F;
    out.lost_last[move] = map.last + 1 < range.end ? 1.0F : 0.0F;
  }
  return out;
}

constexpr bool loses_at_most_one() {
  return std::all_of(kAllMoves.ends.begin(), kAllMoves.ends.end(), [](MapEnds ends) {
    const AxisMap map = map_axis(ends);
    return map.first <= 1 && map.last >= 14;
  });
}
static_assert(loses_at_most_one());

// Tables by window, for either axis.
inline constexpr std::array<RangeMoves, 4> kMovesAcross = {moves_in(kWindows[0].x), moves_in(kWindows[1].x),
                                                           moves_in(kWindows[2].x), moves_in(kWindows[3].x)};
inline constexpr std::array<RangeMoves, 4> kMovesDown = {moves_in(kWindows[0].y), moves_in(kWindows[1].y),
                                                         moves_in(kWindows[2].y), moves_in(kWindows[3].y)};

// Returns the ends that bring [a0, a1] to [b0, b1], all relative to the middle.
inline MapEnds ends_between(float a0, float a1, float b0, float b1) {
  const float scale = (b1 - b0) / (a1 - a0);
  return {b0 + (-0.5F - a0) * scale + 0.5F, b1 + (0.5F - a1) * scale - 0.5F};
}

inline Warp warp_of(MapEnds x, MapEnds y) {
  Warp w;
  w.m = {0.5F * (x.low + x.high), 1 + (x.high - x.low), 0, 0.5F * (y.low + y.high), 0, 1 + (y.high - y.low)};
  return w;
}

}  // namespace millrace::similarity
