// The device code repeats this operation by operation: src/kernels/chart/body, parts.inc.
#include "src/kernels/stroke/stroke_tile.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/stroke/stroke_tile_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/kernels/rle/rle.h"
#include "src/kernels/stroke/stroke_fixed.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::stroke::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr float kUnit = 1.0F / (1 << 16);

// Sums of rows of kWidth pixels: the area left of each pixel's right border. A 0 precedes the sums of a row.
template <int kWidth>
struct Sums {
  static constexpr std::size_t kBefore = kWidth < 16 ? 8 : 16, kStride = kBefore + kWidth;
  alignas(64) std::array<float, kStride * kTileHeight> of;
  float* row(std::size_t i) { return of.data() + i * kStride + kBefore; }
};

// Part of an edge in one row: from `left` to `left + width`, `height` high; `height` is negative if the area to the
// right shrinks. Left of z its area is height * (min(z, width)^2 / (2 width) + max(z - width, 0)). `share` is height /
// (2 width), which is the same for all parts of an edge.
struct Slice {
  float left, width, height, share;
};

static_assert(kTileWidth == 32);

// Levels() returns a bit for each level that is not 0.
#if MILLRACE_PORTABLE_TARGET

template <int kWidth>
void Add(const Slice& slice, float* sums) {
  for (int k = 0; k < kWidth; ++k) {
    const float u = std::max(static_cast<float>(k + 1) - slice.left, 0.0F), v = std::min(u, slice.width);
    sums[k] = sums[k] + (v * v * slice.share + slice.height * (u - v));
  }
}

template <int kWidth>
std::uint32_t Levels(const float* sums, std::uint8_t* levels) {
  std::uint32_t inked = 0;
  for (int k = 0; k < kWidth; ++k) {
    const float share = std::min(std::max(sums[k] - sums[k - 1], 0.0F), 1.0F);
    const std::uint32_t level = std::bit_cast<std::uint32_t>(share * 255.0F + kToIntegerFloat) & 255;
    levels[k] = static_cast<std::uint8_t>(level);
    inked |= std::uint32_t{level > 0} << k;
  }
  return inked;
}

#else

// Position of each pixel's right border.
alignas(64) constexpr auto kBorders = [] {
  std::array<float, kTileWidth> out{};
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<float>(k + 1);
  return out;
}();

template <int kWidth>
using Floats = hn::CappedTag<float, std::min(16, kWidth)>;

template <int kWidth>
HWY_INLINE void Add(const Slice& slice, float* HWY_RESTRICT sums) {
  const Floats<kWidth> d;
  const auto left = hn::Set(d, slice.left), reach = hn::Set(d, slice.width), height = hn::Set(d, slice.height);
  const auto share = hn::Set(d, slice.share);
  for (int k = 0; k < kWidth; k += static_cast<int>(hn::MaxLanes(d))) {
    const auto border = hn::Load(d, kBorders.data() + k);
    const auto u = hn::Max(hn::Sub(border, left), hn::Zero(d)), v = hn::Min(u, reach);
    const auto area = hn::Add(hn::Mul(hn::Mul(v, v), share), hn::Mul(height, hn::Sub(u, v)));
    hn::Store(hn::Add(hn::Load(d, sums + k), area), d, sums + k);
  }
}

template <int kWidth>
HWY_INLINE std::uint32_t Levels(const float* HWY_RESTRICT sums, std::uint8_t* HWY_RESTRICT levels) {
  std::uint32_t inked = 0;
  const Floats<kWidth> d;
  const hn::RebindToSigned<Floats<kWidth> > di;
  const hn::Rebind<std::uint8_t, Floats<kWidth> > db;
  for (int k = 0; k < kWidth; k += static_cast<int>(hn::MaxLanes(d))) {
    const auto share = hn::Sub(hn::Load(d, sums + k), hn::LoadU(d, sums + k - 1));
    const auto bounded = hn::Min(hn::Max(share, hn::Zero(d)), hn::Set(d, 1.0F));
    const auto rounded = hn::Add(hn::Mul(bounded, hn::Set(d, 255.0F)), hn::Set(d, kToIntegerFloat));
    const auto level = hn::And(hn::BitCast(di, rounded), hn::Set(di, 255));
    hn::StoreU(hn::DemoteTo(db, level), db, levels + k);
    std::array<std::uint8_t, 8> mask{};
    hn::StoreMaskBits(di, hn::Gt(level, hn::Zero(di)), mask.data());
    inked |= std::uint32_t{mask[0]} << k;
    if constexpr (hn::MaxLanes(d) > 8) inked |= std::uint32_t{mask[1]} << (k + 8);
  }
  return inked;
}

#endif

// Adds all edges from one corner to the next. If `direction` is 1, edges that go down add the area to their right.
template <int kWidth>
HWY_INLINE void AddEdges(const PixelTile& tile, std::span<const Corner> corners, float direction, Sums<kWidth>& sums) {
  // Corners are less than 2^24 units away, so that they are exact as floats.
  const std::int32_t left = tile.left << 16, top = tile.top << 16;
  const auto bottom = static_cast<float>(tile.rows);
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const Corner &a = corners[i], &b = corners[i + 1];
    if (a.y == b.y) continue;
    const Corner &high = a.y < b.y ? a : b, &low = a.y < b.y ? b : a;
    const float sign = a.y < b.y ? direction : -direction;
    const float x0 = static_cast<float>(high.x - left) * kUnit, y0 = static_cast<float>(high.y - top) * kUnit;
    const float x1 = static_cast<float>(low.x - left) * kUnit, y1 = static_cast<float>(low.y - top) * kUnit;
    const float slope = (x1 - x0) / (y1 - y0), end = std::min(y1, bottom);
    // The area of a vertical edge does not depend on its width; the minimum only prevents a division by 0.
    // docs/design/strokes.md gives the reasons for the constants of this file.
    constexpr float kNarrowest = 1.0F / (1 << 20);
    const float share = sign * 0.5F / std::max(kNarrowest, std::fabs(slope));
    float y = std::max(y0, 0.0F), x = x0 + (y - y0) * slope;
    if (y >= end) continue;
    const int row = static_cast<int>(y);
    float* row_sums = sums.row(static_cast<std::size_t>(row));
    for (float below = static_cast<float>(row) + 1;; below += 1, row_sums += Sums<kWidth>::kStride) {
      const float next_y = std::min(below, end), next_x = x0 + (next_y - y0) * slope;
      Add<kWidth>({std::min(x, next_x), std::fabs(next_x - x), sign * (next_y - y), share}, row_sums);
      if (next_y >= end) break;
      x = next_x;
      y = next_y;
    }
  }
}

template <int kWidth>
void Rows(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower, TileRow* rows,
          std::uint8_t* levels) {
  Sums<kWidth> sums;
  std::memset(sums.of.data(), 0, static_cast<std::size_t>(tile.rows) * Sums<kWidth>::kStride * sizeof(float));
  // The stroke lies to the right of a lower side that goes down.
  AddEdges<kWidth>(tile, upper, -1, sums);
  AddEdges<kWidth>(tile, lower, 1, sums);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tile.rows); ++i) {
    const std::uint32_t inked = Levels<kWidth>(sums.row(i), levels + i * kTileWidth);
    const int begin = std::countr_zero(inked | 1U << 31), end = 32 - std::countl_zero(inked);
    static_assert(rle::kMaxGap == 3);
    const auto within = static_cast<std::uint32_t>((std::uint64_t{1} << end) - (std::uint64_t{1} << begin));
    const std::uint32_t background = inked == 0 ? 0 : ~inked & within, two = background & background >> 1;
    rows[i] = {tile.left + begin, static_cast<std::int16_t>(std::max(0, end - begin)), static_cast<std::int8_t>(begin),
               (two & two >> 2) != 0};
  }
}

void TileRows(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower, TileRow* rows,
              std::uint8_t* levels) {
  if (tile.width <= 8) return Rows<8>(tile, upper, lower, rows, levels);
  if (tile.width <= 16) return Rows<16>(tile, upper, lower, rows, levels);
  Rows<kTileWidth>(tile, upper, lower, rows, levels);
}

}  // namespace millrace::stroke::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::stroke {

HWY_EXPORT(TileRows);

void tile_rows(const PixelTile& tile, std::span<const Corner> upper, std::span<const Corner> lower, TileRow* rows,
               std::uint8_t* levels) {
  HWY_DYNAMIC_DISPATCH(TileRows)(tile, upper, lower, rows, levels);
}

}  // namespace millrace::stroke
#endif
