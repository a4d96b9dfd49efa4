#include "src/kernels/ycc/ycc.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/ycc/ycc_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstdlib>

#include "src/kernels/pairs-inl.h"
#include "src/kernels/ycc/ycc_math.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// |B - Y| is at most 1.772 |Cb| + 0.5, |R - Y| at most 1.402 |Cr| + 0.5, and |G - Y| at most the larger of the two. The
// reach uses the factors 1 + 1/2 + 5/16 and 1 + 1/2, each term rounded up, which is never less. EveryTripleOfYCbCr
// tests all pairs.

#if MILLRACE_PORTABLE_TARGET

void Reach(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* reach, int samples) {
  const auto largest = [](const std::uint8_t* at) {
    return std::max({std::abs(at[-1] - 128), std::abs(at[0] - 128), std::abs(at[1] - 128)});
  };
  const auto mean = [](int a, int b) { return (a + b + 1) / 2; };
  for (int i = 0; i < samples; ++i) {
    const int b = largest(cb + i), r = largest(cr + i), half = mean(b, 0);
    const int blue = b + half + mean(half, mean(mean(half, 0), 0));
    reach[i] = static_cast<std::uint8_t>(std::min(255, std::max(blue, r + mean(r, 0))));
  }
}

void Luma420(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width) {
  for (int x = 0; x < width; ++x) {
    const int reach = std::max(near.reach[x / 2], far.reach[x / 2]);
    if (y[x] >= reach && y[x] + reach <= 255) continue;
    y[x] = luma_of_ycc(y[x], upsampled(near.cb, far.cb, x), upsampled(near.cr, far.cr, x));
  }
}

#else

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::int32_t, D8>;
using V16 = hn::Vec<D16>;

void Reach(const std::uint8_t* HWY_RESTRICT cb, const std::uint8_t* HWY_RESTRICT cr, std::uint8_t* HWY_RESTRICT reach,
           int samples) {
  const D8 d;
  const hn::RebindToSigned<D8> di;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto distance = [&](const std::uint8_t* at) {
    return hn::BitCast(d, hn::Abs(hn::BitCast(di, hn::Xor(hn::LoadU(d, at), hn::Set(d, 128)))));
  };
  const auto largest = [&](const std::uint8_t* at) {
    return hn::Max(distance(at), hn::Max(distance(at - 1), distance(at + 1)));
  };
  const auto half_of = [&](auto v) { return hn::AverageRound(v, hn::Zero(d)); };
  static_assert(hn::MaxLanes(D8()) <= kYccBeyond);
  for (int i = 0; i < samples; i += lanes) {
    const auto b = largest(cb + i), r = largest(cr + i);
    const auto half = half_of(b);
    const auto blue = hn::SaturatedAdd(hn::SaturatedAdd(b, half), hn::AverageRound(half, half_of(half_of(half))));
    hn::StoreU(hn::Max(blue, hn::SaturatedAdd(r, half_of(r))), d, reach + i);
  }
}

// Chroma of the pixels left and right of a vector of samples, minus 128.
struct LeftRight {
  V16 left, right;
};

HWY_INLINE LeftRight Upsampled(const std::uint8_t* HWY_RESTRICT near, const std::uint8_t* HWY_RESTRICT far) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> d8;
  const auto three = hn::Set(d, 3);
  const auto down = [&](int at) {
    return hn::Add(hn::Mul(hn::PromoteTo(d, hn::LoadU(d8, near + at)), three),
                   hn::PromoteTo(d, hn::LoadU(d8, far + at)));
  };
  const auto here = hn::Mul(down(0), three);
  const auto along = [&](int beside, std::int16_t rounding) {
    const auto sum = hn::Add(hn::Add(here, down(beside)), hn::Set(d, rounding));
    return hn::Sub(hn::ShiftRight<4>(sum), hn::Set(d, 128));
  };
  return {along(-1, 8), along(1, 7)};
}

// Returns two alternating weights for pair_multiply_add.
HWY_INLINE V16 Pair(std::int32_t even, std::int32_t odd) {
  const auto bits = static_cast<std::uint32_t>(even & 0xFFFF) | static_cast<std::uint32_t>(odd & 0xFFFF) << 16;
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(bits)));
}

HWY_INLINE V16 LumaOf(V16 y, V16 cb, V16 cr) {
  const D16 d;
  const D32 d32;
  const auto half = hn::Set(d32, 32768);
  const auto clip = [&](V16 v) { return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255)); };
  // 0.402 and -0.228, the fractions of 1.402 and 1.772 - 2, in 15 bits with rounding, give the defined value for every
  // Cr and Cb.
  const auto red = clip(hn::Add(y, hn::Add(cr, hn::MulFixedPoint15(cr, hn::Set(d, 13173)))));
  const auto blue = clip(hn::Add(y, hn::Add(hn::Add(cb, cb), hn::MulFixedPoint15(cb, hn::Set(d, -7471)))));
  // 0.71414 is written 1 - 0.28586, so that both weights fit 16 bits. Packing reverses the interleaving block by block.
  const auto chroma = Pair(-22554, 65536 - 46802);
  const auto green32 = [&](V16 pairs) { return hn::ShiftRight<16>(pair_multiply_add(d32, pairs, chroma, half)); };
  const auto offset =
      hn::ReorderDemote2To(d, green32(hn::InterleaveLower(d, cb, cr)), green32(hn::InterleaveUpper(d, cb, cr)));
  const auto green = clip(hn::Add(y, hn::Sub(offset, cr)));
  // The weight of green does not fit 16 bits, but its halves do.
  static_assert(kLumaGreen % 2 == 0 && kLumaGreen / 2 < 32768);
  const auto red_green = Pair(kLumaRed, kLumaGreen / 2), green_blue = Pair(kLumaGreen / 2, kLumaBlue);
  const auto luma32 = [&](V16 rg, V16 gb) {
    return hn::ShiftRight<16>(pair_multiply_add(d32, gb, green_blue, pair_multiply_add(d32, rg, red_green, half)));
  };
  return hn::ReorderDemote2To(d, luma32(hn::InterleaveLower(d, red, green), hn::InterleaveLower(d, green, blue)),
                              luma32(hn::InterleaveUpper(d, red, green), hn::InterleaveUpper(d, green, blue)));
}

void Luma420(std::uint8_t* HWY_RESTRICT y, const ChromaRow& near, const ChromaRow& far, int width) {
  const D8 d8;
  const D16 d16;
  const hn::Repartition<std::uint16_t, D8> du16;
  const hn::Rebind<std::uint8_t, D16> d_half;
  const int pixels = static_cast<int>(hn::Lanes(d8));
  for (int x = 0; x < width; x += pixels) {
    const int i = x / 2;
    const auto reach16 =
        hn::PromoteTo(du16, hn::Max(hn::LoadU(d_half, near.reach + i), hn::LoadU(d_half, far.reach + i)));
    const auto reach = hn::BitCast(d8, hn::Or(reach16, hn::ShiftLeft<8>(reach16)));
    const auto both = hn::LoadU(d8, y + x);
    const auto beyond = hn::Or(hn::SaturatedSub(reach, both), hn::SaturatedSub(reach, hn::Not(both)));
    if (hn::AllTrue(d8, hn::Eq(beyond, hn::Zero(d8)))) continue;
    const LeftRight cb = Upsampled(near.cb + i, far.cb + i), cr = Upsampled(near.cr + i, far.cr + i);
    const auto y16 = hn::BitCast(du16, both);
    const auto left = LumaOf(hn::BitCast(d16, hn::And(y16, hn::Set(du16, 255))), cb.left, cr.left);
    const auto right = LumaOf(hn::BitCast(d16, hn::ShiftRight<8>(y16)), cb.right, cr.right);
    hn::StoreU(hn::BitCast(d8, hn::Or(left, hn::ShiftLeft<8>(right))), d8, y + x);
  }
}

#endif

}  // namespace millrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace {

HWY_EXPORT(Reach);
HWY_EXPORT(Luma420);

void chroma_reach(const std::uint8_t* cb, const std::uint8_t* cr, std::uint8_t* reach, int samples) {
  HWY_DYNAMIC_DISPATCH(Reach)(cb, cr, reach, samples);
}

void luma_from_ycc420(std::uint8_t* y, const ChromaRow& near, const ChromaRow& far, int width) {
  HWY_DYNAMIC_DISPATCH(Luma420)(y, near, far, width);
}

}  // namespace millrace
#endif
