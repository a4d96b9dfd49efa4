// The device code repeats this operation by operation: src/kernels/chart/body, cells.inc and parts.inc.
#include "src/kernels/stroke/stroke_rows.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/stroke/stroke_rows_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/kernels/rle/rle.h"
#include "src/kernels/stroke/stroke_cells.h"
#include "src/kernels/stroke/stroke_fixed.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::stroke::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Plain loops are vectorised by the compiler for each level, as no element depends on another.
void Cross(double x, double above, double slope, int count, CrossedRows& out) {
  alignas(64) std::array<std::int32_t, kRowsAtOnce + 1> at;
  for (int i = 0; i <= count; ++i) {
    const double v = x + (above + static_cast<double>(i) * kOne) * slope;
    // v is not below 0, so truncation after adding 0.5 gives the nearest integer.
    at[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(v + 0.5);
  }
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int32_t left = std::min(at[k], at[k + 1]), right = std::max(at[k], at[k + 1]);
    const std::int32_t first = left >> 16, begin = left & (kOne - 1), reach = right - (first << 16);
    // Height of the part left of the next cell's border and of the part beyond it, and twice the mean fraction to the
    // left.
    const std::int32_t over = std::max(0, reach - kOne);
    const double width = static_cast<double>(std::max(1, right - left));
    const auto beyond = static_cast<std::int32_t>(static_cast<double>(over) * kOne / width + 0.5);
    const std::int32_t height = kOne - beyond, twice = begin + reach - over;
    constexpr double kShare = static_cast<double>(1 << kFiner) / (2 * kOne);
    const auto near = static_cast<std::int32_t>(static_cast<double>(height) * twice * kShare + 0.5);
    const auto far = static_cast<std::int32_t>(static_cast<double>(beyond) * over * kShare + 0.5);
    out.first[k] = first;
    out.area0[k] = (height << kFiner) - near;
    out.area1[k] = near + (beyond << kFiner) - far;
    out.area2[k] = far;
  }
}

// The left side of row i is (first + i * step) / 2^24 pixels right of pixel `base`. Take a line that goes from 0 to
// `width` while it crosses the row. The area right of it and left of z is min(z, width)^2 / (2 width) + max(z - width,
// 0). The area of a pixel is the difference of this at its borders, for the left side minus the right side. A number
// added to 1.5 * 2^23 lies in the lowest bits of the sum, rounded to the nearest integer.
constexpr float kToIntegerFloat = 12582912;

#if MILLRACE_PORTABLE_TARGET

void SlantLevels(std::int32_t base, std::int32_t first, std::int32_t step, float width, float across, int count,
                 TileRow* rows, std::uint64_t* levels) {
  const float share = 0.5F / width;
  const auto area = [&](float z) {
    const float u = std::max(z, 0.0F), v = std::min(u, width);
    return v * v * share + (u - v);
  };
  for (int i = 0; i < count; ++i) {
    const std::int32_t x = first + i * step;
    const float left = static_cast<float>(x & 0xFFFFFF) * (1.0F / (1 << 24)), right = left + across;
    float before = 0;
    std::uint64_t packed = 0;
    int end = 0, inked = 0;
    for (int k = 0; k < kSlantPixels; ++k) {
      const auto border = static_cast<float>(k + 1);
      const float now = area(border - left) - area(border - right);
      const std::uint32_t level = std::bit_cast<std::uint32_t>((now - before) * 255.0F + kToIntegerFloat) & 255;
      packed |= std::uint64_t{level} << (8 * k);
      before = now;
      if (level != 0) end = k + 1, ++inked;
    }
    const int begin = (packed & 255) == 0 ? 1 : 0, count = std::max(0, end - begin);
    rows[i] = {base + (x >> 24) + begin, static_cast<std::int16_t>(count), static_cast<std::int8_t>(begin),
               count != inked};
    levels[i] = packed;
  }
}

#else

void SlantLevels(std::int32_t base, std::int32_t first, std::int32_t step, float width, float across, int count,
                 TileRow* rows, std::uint64_t* levels) {
  const hn::CappedTag<std::int32_t, 8> di;  // wider vectors would mostly be half empty
  const hn::RebindToFloat<decltype(di)> df;
  using Integers = hn::Vec<decltype(di)>;
  using Floats = hn::Vec<decltype(df)>;
  const auto lanes = static_cast<int>(hn::Lanes(di));
  static_assert(kSlantRows % 8 == 0 && kSlantPixels == 8 && sizeof(TileRow) == 8);
  const Floats zero = hn::Zero(df), widths = hn::Set(df, width), share = hn::Set(df, 0.5F / width);
  const auto area = [&](Floats z) HWY_ATTR {
    const Floats u = hn::Max(z, zero), v = hn::Min(u, widths);
    return hn::Add(hn::Mul(hn::Mul(v, v), share), hn::Sub(u, v));
  };
  const int columns = static_cast<int>(width + across) + 2;  // no row touches more
  Integers next = hn::Add(hn::Set(di, first), hn::Mul(hn::Iota(di, 0), hn::Set(di, step)));
  for (int i = 0; i < count; i += lanes) {
    const Integers x = next;
    next = hn::Add(next, hn::Set(di, lanes * step));
    const Floats left = hn::Mul(hn::ConvertTo(df, hn::And(x, hn::Set(di, 0xFFFFFF))), hn::Set(df, 1.0F / (1 << 24)));
    const Floats right = hn::Add(left, hn::Set(df, across));
    Floats before = zero;
    Integers end = hn::Zero(di), inked = end;
    // Returns the level of the next pixel.
    const auto level = [&](float border) HWY_ATTR {
      const Floats now = hn::Sub(area(hn::Sub(hn::Set(df, border), left)), area(hn::Sub(hn::Set(df, border), right)));
      const Floats share255 = hn::Mul(hn::Sub(now, before), hn::Set(df, 255.0F));
      before = now;
      const Integers of = hn::And(hn::BitCast(di, hn::Add(share255, hn::Set(df, kToIntegerFloat))), hn::Set(di, 255));
      const auto has_coverage = hn::Ne(of, hn::Zero(di));
      end = hn::IfThenElse(has_coverage, hn::Set(di, static_cast<std::int32_t>(border)), end);
      // A mask is -1.
      inked = hn::Sub(inked, hn::VecFromMask(di, has_coverage));
      return of;
    };
    Integers low = level(1), high = hn::Zero(di);
    low = hn::Or(low, hn::ShiftLeft<8>(level(2)));
    low = hn::Or(low, hn::ShiftLeft<16>(level(3)));
    low = hn::Or(low, hn::ShiftLeft<24>(level(4)));
    if (columns > 4) high = level(5);
    if (columns > 5) high = hn::Or(high, hn::ShiftLeft<8>(level(6)));
    if (columns > 6) high = hn::Or(high, hn::ShiftLeft<16>(level(7)));
    if (columns > 7) high = hn::Or(high, hn::ShiftLeft<24>(level(8)));
    static_assert(std::endian::native == std::endian::little);
    const Integers begin = hn::IfThenElseZero(hn::Eq(hn::And(low, hn::Set(di, 255)), hn::Zero(di)), hn::Set(di, 1));
    const Integers pixels = hn::Max(hn::Sub(end, begin), hn::Zero(di));
    // Packs the fields of TileRow: count, skipped, apart.
    const Integers packed = hn::Or(hn::Or(pixels, hn::ShiftLeft<16>(begin)),
                                   hn::IfThenElseZero(hn::Ne(pixels, inked), hn::Set(di, 1 << 24)));
    hn::StoreInterleaved2(hn::Add(hn::Add(hn::Set(di, base), hn::ShiftRight<24>(x)), begin), packed, di,
                          reinterpret_cast<std::int32_t*>(rows + i));
    hn::StoreInterleaved2(low, high, di, reinterpret_cast<std::int32_t*>(levels + i));
  }
}

#endif

}  // namespace millrace::stroke::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::stroke {

HWY_EXPORT(Cross);
HWY_EXPORT(SlantLevels);

void cross_rows(double x, double above, double slope, int count, CrossedRows& out) {
  HWY_DYNAMIC_DISPATCH(Cross)(x, above, slope, count, out);
}

void slant_rows(double x, double step, double across, int count, TileRow* rows, std::uint64_t* levels) {
  constexpr double kUnit = 1 << 24;
  // The width must not be 0, as it is a divisor even for a vertical line.
  // docs/design/strokes.md gives the reasons for the constants of this file.
  constexpr double kNarrowest = 1.0 / (1 << 20);
  static_assert(kSlantRows * kMaxStep + 2 < 128);
  // If the sides go left, a row begins at its bottom.
  const double first = step < 0 ? x + step : x, base = floor_of(first);
  HWY_DYNAMIC_DISPATCH(SlantLevels)
  (static_cast<std::int32_t>(base), nearest((first - base) * kUnit), nearest(step * kUnit),
   static_cast<float>(std::max(kNarrowest, std::fabs(step))), static_cast<float>(across), count, rows, levels);
}

}  // namespace millrace::stroke
#endif
