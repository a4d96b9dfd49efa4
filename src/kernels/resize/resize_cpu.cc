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

std::int32_t PairTerm(std::int32_t pair, int which) { return static_cast<std::int16_t>(pair >> (16 * which)); }

// Weight `which` of pair `p` of output `x`, its two halves put together again.
std::int32_t PairWeight(const PairWeights& weights, std::size_t x, int p, int which) {
  const std::size_t at = x * static_cast<std::size_t>(weights.stride) + static_cast<std::size_t>(p);
  const std::int32_t low = PairTerm(weights.low[at], which);
  return weights.split ? low + PairTerm(weights.high[at], which) * (1 << kResizeLowBits) : low;
}

void Row(const std::uint8_t* HWY_RESTRICT row, int width, const DotWeights& weights,
         std::int16_t* HWY_RESTRICT scratch, std::uint8_t* HWY_RESTRICT out) {
  for (int i = 0; i < width; ++i) scratch[i] = row[i];
  std::memset(scratch + width, 0, 2 * DotWeights::kStep * sizeof(std::int16_t));
  for (std::size_t x = 0; x < weights.first.size(); ++x) {
    const std::int16_t* HWY_RESTRICT in = scratch + weights.first[x];
    const std::size_t base = x * static_cast<std::size_t>(weights.stride);
    const std::int16_t* HWY_RESTRICT low = weights.low.data() + base;
    std::int32_t sum = kResizeHalf;
    for (int i = 0; i < weights.length[x]; ++i) sum += in[i] * low[i];
    if (weights.split) {
      const std::int16_t* HWY_RESTRICT high = weights.high.data() + base;
      std::int32_t sum_high = 0;
      for (int i = 0; i < weights.length[x]; ++i) sum_high += in[i] * high[i];
      sum += sum_high * (1 << kResizeLowBits);
    }
    out[x] = resize_clip(sum);
  }
}

int StripRows() { return 4; }

void Strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out, std::int32_t*,
           std::uint8_t*, std::uint8_t* const* out_rows) {
  for (int r = 0; r < StripRows(); ++r) {
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

void ColumnRow(const std::uint8_t* plane, std::ptrdiff_t stride, int width, int in_rows, const PairWeights& weights,
               int y, std::uint8_t* out) {
  constexpr int kBlock = 256;
  std::int32_t sums[kBlock];
  for (int begin = 0; begin < width; begin += kBlock) {
    const int n = width - begin < kBlock ? width - begin : kBlock;
    for (int x = 0; x < n; ++x) sums[x] = kResizeHalf;
    for (int p = 0; p < 2 * weights.pairs[static_cast<std::size_t>(y)]; ++p) {
      const int row = 2 * weights.first_pair[static_cast<std::size_t>(y)] + p;
      if (row >= in_rows) break;
      const std::int32_t weight = PairWeight(weights, static_cast<std::size_t>(y), p / 2, p % 2);
      const std::uint8_t* HWY_RESTRICT in = plane + row * stride + begin;
      for (int x = 0; x < n; ++x) sums[x] += in[x] * weight;
    }
    for (int x = 0; x < n; ++x) out[begin + x] = resize_clip(sums[x]);
  }
}

void Accumulate(const std::uint8_t* HWY_RESTRICT row, int width, std::int32_t weight, std::int32_t* HWY_RESTRICT sums) {
  for (int x = 0; x < width; ++x) sums[x] += weight * row[x];
}

#else

using D32 = hn::CappedTag<std::int32_t, kMostStripRows>;
using D16 = hn::Repartition<std::int16_t, D32>;

template <bool kSplit>
void RowOf(const std::int16_t* HWY_RESTRICT pixels, const DotWeights& weights, std::uint8_t* HWY_RESTRICT out) {
  const D32 d32;
  const D16 d16;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const std::size_t outputs = weights.first.size();
  for (std::size_t x = 0; x < outputs; ++x) {
    const std::int16_t* HWY_RESTRICT in = pixels + weights.first[x];
    const std::int16_t* HWY_RESTRICT low = weights.low.data() + x * static_cast<std::size_t>(weights.stride);
    // Without a split there is no high part to point into.
    const std::int16_t* HWY_RESTRICT high = kSplit ? weights.high.data() + x * static_cast<std::size_t>(weights.stride) : nullptr;
    auto low0 = hn::Zero(d32), low1 = hn::Zero(d32);
    auto high0 = hn::Zero(d32), high1 = hn::Zero(d32);
    for (int i = 0; i < weights.length[x]; i += lanes) {
      const auto px = hn::LoadU(d16, in + i);
      low0 = hn::ReorderWidenMulAccumulate(d32, px, hn::Load(d16, low + i), low0, low1);
      if constexpr (kSplit) {
        high0 = hn::ReorderWidenMulAccumulate(d32, px, hn::Load(d16, high + i), high0, high1);
      }
    }
    auto total = hn::Add(low0, low1);
    if constexpr (kSplit) total = hn::Add(total, hn::ShiftLeft<kResizeLowBits>(hn::Add(high0, high1)));
    const auto sum = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(d32, total)));
    out[x] = resize_clip(static_cast<std::int32_t>(sum + static_cast<std::uint32_t>(kResizeHalf)));
  }
}

void Row(const std::uint8_t* HWY_RESTRICT row, int width, const DotWeights& weights,
         std::int16_t* HWY_RESTRICT scratch, std::uint8_t* HWY_RESTRICT out) {
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  int i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(hn::PromoteTo(d16, hn::LoadU(d8, row + i)), d16, scratch + i);
  for (; i < width; ++i) scratch[i] = row[i];
  std::memset(scratch + width, 0, 2 * DotWeights::kStep * sizeof(std::int16_t));
  weights.split ? RowOf<true>(scratch, weights, out) : RowOf<false>(scratch, weights, out);
}

int StripRows() { return static_cast<int>(hn::Lanes(D32())); }

template <bool kSplit>
HWY_INLINE hn::Vec<D32> PairSum(const std::int32_t* HWY_RESTRICT pairs, std::size_t step, const PairWeights& weights,
                                std::size_t x) {
  const D32 d32;
  const D16 d16;
  const std::int32_t* HWY_RESTRICT low = weights.low.data() + x * static_cast<std::size_t>(weights.stride);
  const std::int32_t* HWY_RESTRICT high = kSplit ? weights.high.data() + x * static_cast<std::size_t>(weights.stride) : nullptr;
  const std::int32_t* HWY_RESTRICT in = pairs + static_cast<std::size_t>(weights.first_pair[x]) * step;
  auto sum = hn::Set(d32, kResizeHalf);
  auto sum_high = hn::Zero(d32);
  for (int p = 0; p < weights.pairs[x]; ++p) {
    const auto px = hn::BitCast(d16, hn::Load(d32, in + static_cast<std::size_t>(p) * step));
    sum = pair_multiply_add(d32, px, hn::BitCast(d16, hn::Set(d32, low[p])), sum);
    if constexpr (kSplit) sum_high = pair_multiply_add(d32, px, hn::BitCast(d16, hn::Set(d32, high[p])), sum_high);
  }
  if constexpr (kSplit) sum = hn::Add(sum, hn::ShiftLeft<kResizeLowBits>(sum_high));
  return hn::ShiftRight<kResizePrecision>(sum);
}

// The strip is turned so that a vector holds one column of it: then every output column is a weighted sum of whole
// vectors, and no lane ever has to be added to its neighbour.
void Strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out,
           std::int32_t* HWY_RESTRICT pairs, std::uint8_t* HWY_RESTRICT columns, std::uint8_t* const* out_rows) {
  const D32 d32;
  const hn::Rebind<std::uint8_t, D32> d8;
  const std::size_t lanes = hn::Lanes(d32);
  const int whole = width / 2;
  for (std::size_t r = 0; r < lanes; ++r) {
    const std::uint8_t* HWY_RESTRICT row = rows[r];
    std::int32_t* HWY_RESTRICT to = pairs + r;
    for (int p = 0; p < whole; ++p) to[static_cast<std::size_t>(p) * lanes] = row[2 * p] | row[2 * p + 1] << 16;
    if (width % 2 != 0) to[static_cast<std::size_t>(whole) * lanes] = row[width - 1];
  }
  for (std::size_t x = 0; x < static_cast<std::size_t>(out); ++x) {
    const auto sum = weights.split ? PairSum<true>(pairs, lanes, weights, x) : PairSum<false>(pairs, lanes, weights, x);
    hn::Store(hn::DemoteTo(d8, sum), d8, columns + x * lanes);
  }
  for (std::size_t r = 0; r < lanes; ++r) {
    std::uint8_t* HWY_RESTRICT to = out_rows[r];
    for (std::size_t x = 0; x < static_cast<std::size_t>(out); ++x) to[x] = columns[x * lanes + r];
  }
}

template <bool kSplit>
void ColumnRowOf(const std::uint8_t* plane, std::ptrdiff_t stride, int width, int in_rows, const PairWeights& weights,
                 int y, std::uint8_t* HWY_RESTRICT out) {
  const D32 d32;
  const D16 d16;
  const hn::Rebind<std::uint8_t, D16> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto at = static_cast<std::size_t>(y);
  const std::int32_t* HWY_RESTRICT low = weights.low.data() + at * static_cast<std::size_t>(weights.stride);
  const std::int32_t* HWY_RESTRICT high = kSplit ? weights.high.data() + at * static_cast<std::size_t>(weights.stride) : nullptr;
  const auto row_of = [&](int pair, int which) {
    const int row = 2 * (weights.first_pair[at] + pair) + which;
    // The odd half of the last pair may lie past the end; it weighs nothing, but must be readable.
    return plane + (row < in_rows ? row : in_rows - 1) * stride;
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    auto lo0 = hn::Set(d32, kResizeHalf), lo1 = hn::Set(d32, kResizeHalf);
    auto hi0 = hn::Zero(d32), hi1 = hn::Zero(d32);
    for (int p = 0; p < weights.pairs[at]; ++p) {
      const auto a = hn::PromoteTo(d16, hn::LoadU(d8, row_of(p, 0) + x));
      const auto b = hn::PromoteTo(d16, hn::LoadU(d8, row_of(p, 1) + x));
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
    // Packing works on the same 128-bit blocks as the interleaving and puts the pixels back in order.
    const auto packed = hn::ReorderDemote2To(d16, hn::ShiftRight<kResizePrecision>(lo0),
                                             hn::ShiftRight<kResizePrecision>(lo1));
    hn::StoreU(hn::DemoteTo(d8, packed), d8, out + x);
  }
  for (; x < width; ++x) {
    std::int32_t sum = kResizeHalf;
    std::uint32_t sum_high = 0;
    for (int p = 0; p < weights.pairs[at]; ++p) {
      for (int which = 0; which < 2; ++which) {
        const std::int32_t px = row_of(p, which)[x];
        sum += px * static_cast<std::int16_t>(low[p] >> (16 * which));
        if constexpr (kSplit) sum_high += static_cast<std::uint32_t>(px * static_cast<std::int16_t>(high[p] >> (16 * which)));
      }
    }
    out[x] = resize_clip(static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + (sum_high << kResizeLowBits)));
  }
}

void ColumnRow(const std::uint8_t* plane, std::ptrdiff_t stride, int width, int in_rows, const PairWeights& weights,
               int y, std::uint8_t* out) {
  weights.split ? ColumnRowOf<true>(plane, stride, width, in_rows, weights, y, out)
                : ColumnRowOf<false>(plane, stride, width, in_rows, weights, y, out);
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

HWY_EXPORT(Row);
HWY_EXPORT(StripRows);
HWY_EXPORT(Strip);
HWY_EXPORT(ColumnRow);
HWY_EXPORT(Accumulate);

int resize_strip_rows() { return HWY_DYNAMIC_DISPATCH(StripRows)(); }

void resize_row(const std::uint8_t* row, int width, const DotWeights& weights, std::int16_t* scratch,
                std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(Row)(row, width, weights, scratch, out);
}

void resize_strip(const std::uint8_t* const* rows, int width, const PairWeights& weights, int out,
                  std::int32_t* pairs, std::uint8_t* columns, std::uint8_t* const* out_rows) {
  HWY_DYNAMIC_DISPATCH(Strip)(rows, width, weights, out, pairs, columns, out_rows);
}

void resize_column_row(const std::uint8_t* plane, std::ptrdiff_t stride, int width, int in_rows,
                       const PairWeights& weights, int y, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ColumnRow)(plane, stride, width, in_rows, weights, y, out);
}

void resize_accumulate(const std::uint8_t* row, int width, std::int32_t weight, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(row, width, weight, sums);
}

}  // namespace millrace
#endif
