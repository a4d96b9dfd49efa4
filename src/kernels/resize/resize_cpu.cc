#include "src/kernels/resize/resize_passes.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/resize/resize_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cstring>

#include "src/kernels/pairs-inl.h"
#include "src/kernels/resize/resize_math.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MILLRACE_PORTABLE_TARGET

int Lanes() { return 1; }

std::int32_t PairTerm(std::int32_t pair, int which) { return static_cast<std::int16_t>(pair >> (16 * which)); }

// Returns weight `which` of pair `p` of output `x`, composed of its high and low half.
std::int32_t PairWeight(const PairWeights& weights, std::size_t x, int p, int which) {
  const std::size_t at = x * static_cast<std::size_t>(weights.stride) + static_cast<std::size_t>(p);
  const std::int32_t low = PairTerm(weights.low[at], which);
  return weights.split ? low + PairTerm(weights.high[at], which) * (1 << kResizeLowBits) : low;
}

void Rows(const std::uint8_t* const* rows, int count, int width, const DotWeights& weights,
          std::int16_t* HWY_RESTRICT scratch, std::uint8_t* const* out) {
  for (int r = 0; r < count; ++r) {
    for (int i = 0; i < width; ++i) scratch[i] = rows[r][i];
    std::memset(scratch + width, 0, DotWeights::kStep * sizeof(std::int16_t));
    for (std::size_t x = 0; x < weights.first.size(); ++x) {
      const std::int16_t* HWY_RESTRICT in = scratch + weights.first[x];
      const std::size_t base = x * static_cast<std::size_t>(weights.stride);
      const std::int16_t* HWY_RESTRICT low = weights.low.data() + base;
      std::int32_t sum = kResizeHalf;
      for (int i = 0; i < weights.length[x]; ++i) sum += in[i] * low[i];
      const std::int16_t* HWY_RESTRICT high = weights.high.data() + base;
      std::int32_t sum_high = 0;
      for (int i = weights.high_begin[x]; i < weights.high_end[x]; ++i) sum_high += in[i] * high[i];
      out[r][x] = resize_clip(sum + sum_high * (weights.split ? 1 << kResizeLowBits : 1));
    }
  }
}

void Strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out, std::uint8_t*,
           std::uint8_t*, std::uint8_t* const* out_rows) {
  for (int r = 0; r < kStripRows; ++r) {
    for (std::size_t x = 0; x < static_cast<std::size_t>(out); ++x) {
      std::int32_t sum = kResizeHalf;
      for (int p = 0; p < weights.pairs[x]; ++p) {
        const int at = 2 * (weights.first_pair[x] + p);
        sum += rows[r][at] * PairWeight(weights, x, p, 0);
        if (at + 1 < width) sum += rows[r][at + 1] * PairWeight(weights, x, p, 1);
      }
      out_rows[r][x] = resize_clip(sum);
    }
  }
}

void ColumnRow(const std::uint8_t* const* rows, int width, const PairWeights& weights, int y, std::uint8_t* out) {
  constexpr int kBlock = 256;
  std::int32_t sums[kBlock];
  for (int begin = 0; begin < width; begin += kBlock) {
    const int n = width - begin < kBlock ? width - begin : kBlock;
    for (int x = 0; x < n; ++x) sums[x] = kResizeHalf;
    for (int p = 0; p < 2 * weights.pairs[static_cast<std::size_t>(y)]; ++p) {
      const std::int32_t weight = PairWeight(weights, static_cast<std::size_t>(y), p / 2, p % 2);
      const std::uint8_t* HWY_RESTRICT in = rows[p] + begin;
      for (int x = 0; x < n; ++x) sums[x] += in[x] * weight;
    }
    for (int x = 0; x < n; ++x) out[begin + x] = resize_clip(sums[x]);
  }
}

void Accumulate(const std::uint8_t* HWY_RESTRICT row, int width, std::int32_t weight, std::int32_t* HWY_RESTRICT sums) {
  for (int x = 0; x < width; ++x) sums[x] += weight * row[x];
}

#else

using D32 = hn::CappedTag<std::int32_t, kStripRows>;
using D16 = hn::Repartition<std::int16_t, D32>;

int Lanes() { return static_cast<int>(hn::Lanes(D32())); }

// Returns in each 128-bit block the four sums of the corresponding blocks of a, b, c and d.
template <class D, class V>
HWY_INLINE V SumsWithinBlocks(D d32, V a, V b, V c, V d) {
  const hn::Repartition<std::int64_t, D> d64;
  const auto ab = hn::BitCast(d64, hn::Add(hn::InterleaveLower(d32, a, b), hn::InterleaveUpper(d32, a, b)));
  const auto cd = hn::BitCast(d64, hn::Add(hn::InterleaveLower(d32, c, d), hn::InterleaveUpper(d32, c, d)));
  return hn::Add(hn::BitCast(d32, hn::InterleaveLower(d64, ab, cd)),
                 hn::BitCast(d32, hn::InterleaveUpper(d64, ab, cd)));
}

template <class D>
HWY_INLINE auto SumOfBlocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Applies the same weights to kCount rows, `pitch` values apart.
template <bool kSplit, std::size_t kCount>
void RowsOf(const std::int16_t* HWY_RESTRICT pixels, std::size_t pitch, const DotWeights& weights,
            std::uint8_t* const* out) {
  static_assert(kCount <= 4);
  const D32 d32;
  const D16 d16;
  const hn::FixedTag<std::int32_t, 4> d4;
  const std::size_t lanes = hn::Lanes(d16);
  const std::size_t outputs = weights.first.size();
  for (std::size_t x = 0; x < outputs; ++x) {
    const std::int16_t* HWY_RESTRICT in = pixels + weights.first[x];
    const std::int16_t* HWY_RESTRICT low = weights.low.data() + x * static_cast<std::size_t>(weights.stride);
    const std::int16_t* HWY_RESTRICT high = weights.high.data() + x * static_cast<std::size_t>(weights.stride);
    hn::Vec<D32> even[kCount], odd[kCount], high_even[kCount], high_odd[kCount], total[4];
    for (std::size_t r = 0; r < kCount; ++r) even[r] = odd[r] = high_even[r] = high_odd[r] = hn::Zero(d32);
    const auto length = static_cast<std::size_t>(weights.length[x]);
    for (std::size_t i = 0; i < length; i += lanes) {
      const auto weight = hn::Load(d16, low + i);
      for (std::size_t r = 0; r < kCount; ++r) {
        even[r] = hn::ReorderWidenMulAccumulate(d32, hn::Load(d16, in + r * pitch + i), weight, even[r], odd[r]);
      }
    }
    const auto high_end = static_cast<std::size_t>(weights.high_end[x]);
    for (auto i = static_cast<std::size_t>(weights.high_begin[x]); i < high_end; i += lanes) {
      const auto weight = hn::Load(d16, high + i);
      for (std::size_t r = 0; r < kCount; ++r) {
        high_even[r] =
            hn::ReorderWidenMulAccumulate(d32, hn::Load(d16, in + r * pitch + i), weight, high_even[r], high_odd[r]);
      }
    }
    for (std::size_t r = 0; r < 4; ++r) {
      if (r >= kCount) {
        total[r] = hn::Zero(d32);
        continue;
      }
      auto highs = hn::Add(high_even[r], high_odd[r]);
      if constexpr (kSplit) highs = hn::ShiftLeft<kResizeLowBits>(highs);
      total[r] = hn::Add(hn::Add(even[r], odd[r]), highs);
    }
    const auto sums = SumOfBlocks(d32, SumsWithinBlocks(d32, total[0], total[1], total[2], total[3]));
    HWY_ALIGN std::int32_t sum[4];
    hn::Store(hn::Add(sums, hn::Set(d4, kResizeHalf)), d4, sum);
    for (std::size_t r = 0; r < kCount; ++r) out[r][x] = resize_clip(sum[r]);
  }
}

template <std::size_t kCount>
void RowsOf(const std::int16_t* pixels, std::size_t pitch, const DotWeights& weights, std::uint8_t* const* out) {
  weights.split ? RowsOf<true, kCount>(pixels, pitch, weights, out)
                : RowsOf<false, kCount>(pixels, pitch, weights, out);
}

void Rows(const std::uint8_t* const* rows, int count, int width, const DotWeights& weights,
          std::int16_t* HWY_RESTRICT scratch, std::uint8_t* const* out) {
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const std::size_t pitch = dot_scratch_needed(width) / kDotRows;
  for (int r = 0; r < count; ++r) {
    const std::uint8_t* HWY_RESTRICT row = rows[r];
    std::int16_t* HWY_RESTRICT to = scratch + static_cast<std::size_t>(r) * pitch;
    int i = 0;
    for (; i + lanes <= width; i += lanes) hn::Store(hn::PromoteTo(d16, hn::LoadU(d8, row + i)), d16, to + i);
    for (; i < width; ++i) to[i] = row[i];
    std::memset(to + width, 0, DotWeights::kStep * sizeof(std::int16_t));
  }
  if (count == kDotRows) return RowsOf<kDotRows>(scratch, pitch, weights, out);
  for (int r = 0; r < count; ++r) RowsOf<1>(scratch + static_cast<std::size_t>(r) * pitch, pitch, weights, out + r);
}

// Returns output column x for rows [first, first + lanes) of the strip.
template <bool kSplit>
HWY_INLINE hn::Vec<D32> PairSum(const std::uint8_t* HWY_RESTRICT turned, std::size_t first, const PairWeights& weights,
                                std::size_t x) {
  const D32 d32;
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> d8;
  constexpr std::size_t kStep = 2 * kStripRows;
  const std::int32_t* HWY_RESTRICT low = weights.low.data() + x * static_cast<std::size_t>(weights.stride);
  const std::int32_t* HWY_RESTRICT high =
      kSplit ? weights.high.data() + x * static_cast<std::size_t>(weights.stride) : nullptr;
  const std::uint8_t* HWY_RESTRICT in = turned + static_cast<std::size_t>(weights.first_pair[x]) * kStep + 2 * first;
  auto sum = hn::Set(d32, kResizeHalf);
  auto sum_high = hn::Zero(d32);
  for (int p = 0; p < weights.pairs[x]; ++p) {
    const auto px = hn::PromoteTo(d16, hn::LoadU(d8, in + static_cast<std::size_t>(p) * kStep));
    sum = pair_multiply_add(d32, px, hn::BitCast(d16, hn::Set(d32, low[p])), sum);
    if constexpr (kSplit) sum_high = pair_multiply_add(d32, px, hn::BitCast(d16, hn::Set(d32, high[p])), sum_high);
  }
  if constexpr (kSplit) sum = hn::Add(sum, hn::ShiftLeft<kResizeLowBits>(sum_high));
  return hn::ShiftRight<kResizePrecision>(sum);
}

// Transposes n vectors of n values by log2(n) rounds of the perfect shuffle.
template <class D, std::size_t kCount>
HWY_INLINE void Transpose(D d, hn::Vec<D> (&v)[kCount]) {
  for (std::size_t round = 1; round < kCount; round *= 2) {
    hn::Vec<D> shuffled[kCount];
    for (std::size_t i = 0; i < kCount / 2; ++i) {
      shuffled[2 * i] = hn::InterleaveLower(d, v[i], v[i + kCount / 2]);
      shuffled[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kCount / 2]);
    }
    for (std::size_t i = 0; i < kCount; ++i) v[i] = shuffled[i];
  }
}

// Stores pixels (2p, 2p + 1) of all sixteen rows side by side, pair after pair.
void TurnIn(const std::uint8_t* const* rows, int width, std::uint8_t* HWY_RESTRICT turned) {
  const hn::FixedTag<std::uint16_t, 8> d;
  constexpr int kPixels = 16;
  int x = 0;
  for (; x + kPixels <= width; x += kPixels) {
    for (std::size_t half = 0; half < 2; ++half) {
      hn::Vec<decltype(d)> v[8];
      for (std::size_t r = 0; r < 8; ++r) {
        v[r] = hn::BitCast(d, hn::LoadU(hn::FixedTag<std::uint8_t, 16>(), rows[8 * half + r] + x));
      }
      Transpose(d, v);
      for (std::size_t p = 0; p < 8; ++p) {
        std::uint8_t* to = turned + (static_cast<std::size_t>(x) / 2 + p) * 2 * kStripRows + 16 * half;
        hn::StoreU(hn::BitCast(hn::FixedTag<std::uint8_t, 16>(), v[p]), hn::FixedTag<std::uint8_t, 16>(), to);
      }
    }
  }
  for (; x < width; x += 2) {
    for (std::size_t r = 0; r < kStripRows; ++r) {
      std::uint8_t* to = turned + static_cast<std::size_t>(x) * kStripRows + 2 * r;
      to[0] = rows[r][x];
      to[1] = x + 1 < width ? rows[r][x + 1] : 0;
    }
  }
}

void TurnOut(const std::uint8_t* HWY_RESTRICT columns, int out, std::uint8_t* const* rows) {
  const hn::FixedTag<std::uint8_t, 16> d;
  int x = 0;
  for (; x + kStripRows <= out; x += kStripRows) {
    hn::Vec<decltype(d)> v[kStripRows];
    for (std::size_t c = 0; c < kStripRows; ++c)
      v[c] = hn::Load(d, columns + (static_cast<std::size_t>(x) + c) * kStripRows);
    Transpose(d, v);
    for (std::size_t r = 0; r < kStripRows; ++r) hn::StoreU(v[r], d, rows[r] + x);
  }
  for (; x < out; ++x) {
    for (std::size_t r = 0; r < kStripRows; ++r) rows[r][x] = columns[static_cast<std::size_t>(x) * kStripRows + r];
  }
}

// Transposes the strip, so that a vector holds one column of it. Every output column is then a weighted sum of whole
// vectors, without additions across lanes.
void Strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out,
           std::uint8_t* HWY_RESTRICT turned, std::uint8_t* HWY_RESTRICT columns, std::uint8_t* const* out_rows) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  const std::size_t lanes = hn::Lanes(d32);
  TurnIn(rows, width, turned);
  for (std::size_t x = 0; x < static_cast<std::size_t>(out); ++x) {
    for (std::size_t first = 0; first < kStripRows; first += lanes) {
      const auto sum =
          weights.split ? PairSum<true>(turned, first, weights, x) : PairSum<false>(turned, first, weights, x);
      hn::StoreU(hn::DemoteTo(d8, sum), d8, columns + x * kStripRows + first);
    }
  }
  TurnOut(columns, out, out_rows);
}

template <bool kSplit>
void ColumnRowOf(const std::uint8_t* const* rows, int width, const PairWeights& weights, int y,
                 std::uint8_t* HWY_RESTRICT out) {
  const D32 d32;
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto at = static_cast<std::size_t>(y);
  const std::int32_t* HWY_RESTRICT low = weights.low.data() + at * static_cast<std::size_t>(weights.stride);
  const std::int32_t* HWY_RESTRICT high =
      kSplit ? weights.high.data() + at * static_cast<std::size_t>(weights.stride) : nullptr;
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    auto lo0 = hn::Set(d32, kResizeHalf), lo1 = hn::Set(d32, kResizeHalf);
    auto hi0 = hn::Zero(d32), hi1 = hn::Zero(d32);
    for (int p = 0; p < weights.pairs[at]; ++p) {
      const auto a = hn::PromoteTo(d16, hn::LoadU(d8, rows[2 * p] + x));
      const auto b = hn::PromoteTo(d16, hn::LoadU(d8, rows[2 * p + 1] + x));
      const auto left = hn::InterleaveLower(d16, a, b);
      const auto right = hn::InterleaveUpper(d16, a, b);
      const auto w = hn::BitCast(d16, hn::Set(d32, low[p]));
      lo0 = pair_multiply_add(d32, left, w, lo0);
      lo1 = pair_multiply_add(d32, right, w, lo1);
      if constexpr (kSplit) {
        const auto wh = hn::BitCast(d16, hn::Set(d32, high[p]));
        hi0 = pair_multiply_add(d32, left, wh, hi0);
        hi1 = pair_multiply_add(d32, right, wh, hi1);
      }
    }
    if constexpr (kSplit) {
      lo0 = hn::Add(lo0, hn::ShiftLeft<kResizeLowBits>(hi0));
      lo1 = hn::Add(lo1, hn::ShiftLeft<kResizeLowBits>(hi1));
    }
    // Packing works on the same 128-bit blocks as the interleaving and restores the order of the pixels.
    const auto packed =
        hn::ReorderDemote2To(d16, hn::ShiftRight<kResizePrecision>(lo0), hn::ShiftRight<kResizePrecision>(lo1));
    hn::StoreU(hn::DemoteTo(d8, packed), d8, out + x);
  }
  for (; x < width; ++x) {
    std::int32_t sum = kResizeHalf;
    std::uint32_t sum_high = 0;
    for (int p = 0; p < weights.pairs[at]; ++p) {
      for (int which = 0; which < 2; ++which) {
        const std::int32_t px = rows[2 * p + which][x];
        sum += px * static_cast<std::int16_t>(low[p] >> (16 * which));
        if constexpr (kSplit)
          sum_high += static_cast<std::uint32_t>(px * static_cast<std::int16_t>(high[p] >> (16 * which)));
      }
    }
    out[x] = resize_clip(static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + (sum_high << kResizeLowBits)));
  }
}

void ColumnRow(const std::uint8_t* const* rows, int width, const PairWeights& weights, int y, std::uint8_t* out) {
  weights.split ? ColumnRowOf<true>(rows, width, weights, y, out) : ColumnRowOf<false>(rows, width, weights, y, out);
}

void Accumulate(const std::uint8_t* HWY_RESTRICT row, int width, std::int32_t weight, std::int32_t* HWY_RESTRICT sums) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto w = hn::Set(d32, weight);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto px = hn::PromoteTo(d32, hn::LoadU(d8, row + x));
    hn::StoreU(hn::Add(hn::LoadU(d32, sums + x), hn::Mul(px, w)), d32, sums + x);
  }
  for (; x < width; ++x) sums[x] += weight * row[x];
}

#endif

}  // namespace millrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace {

HWY_EXPORT(Lanes);
HWY_EXPORT(Rows);
HWY_EXPORT(Strip);
HWY_EXPORT(ColumnRow);
HWY_EXPORT(Accumulate);

int resize_vector_lanes() { return HWY_DYNAMIC_DISPATCH(Lanes)(); }

std::size_t dot_scratch_needed(int width) {
  constexpr auto kStep = static_cast<std::size_t>(DotWeights::kStep);
  return kDotRows * ((static_cast<std::size_t>(width) + kStep - 1) / kStep * kStep + kStep);
}

void resize_rows(const std::uint8_t* const* rows, int count, int width, const DotWeights& weights,
                 std::int16_t* scratch, std::uint8_t* const* out) {
  HWY_DYNAMIC_DISPATCH(Rows)(rows, count, width, weights, scratch, out);
}

void resize_strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out, std::uint8_t* turned,
                  std::uint8_t* columns, std::uint8_t* const* out_rows) {
  HWY_DYNAMIC_DISPATCH(Strip)(rows, width, weights, out, turned, columns, out_rows);
}

void resize_column_row(const std::uint8_t* const* rows, int width, const PairWeights& weights, int y,
                       std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ColumnRow)(rows, width, weights, y, out);
}

void resize_accumulate(const std::uint8_t* row, int width, std::int32_t weight, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(row, width, weight, sums);
}

}  // namespace millrace
#endif
