#include "src/kernels/luma/luma.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/luma/luma_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/luma/luma_math.h"
#include "src/kernels/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MILLRACE_PORTABLE_TARGET

void Luma(const std::uint8_t* rgb, std::uint8_t* luma, std::size_t count) { luma_from_rgb_reference(rgb, luma, count); }

#else

void Luma(const std::uint8_t* HWY_RESTRICT rgb, std::uint8_t* HWY_RESTRICT luma, std::size_t count) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Repartition<std::uint32_t, decltype(d8)> d32;
  const std::size_t lanes = hn::Lanes(d8);
  // 38470 does not fit a signed 16-bit multiply, so green is split into two halves of 19235, which do: (R, G) * (19595,
  // 19235) + (G, B) * (19235, 7471), two pair-wise multiply-adds per pixel.
  static_assert(kLumaGreen % 2 == 0 && kLumaGreen / 2 < 32768);
  const hn::RebindToSigned<decltype(d16)> di16;
  const hn::RebindToSigned<decltype(d32)> di32;
  const auto red_green = hn::BitCast(di16, hn::Set(d32, kLumaRed | kLumaGreen / 2 << 16));
  const auto green_blue = hn::BitCast(di16, hn::Set(d32, kLumaGreen / 2 | kLumaBlue << 16));
  const auto half = hn::Set(di32, 32768);
  // Undoes the byte order (0, 8, 1, 9, ...) that packing two halves of a block leaves.
  HWY_ALIGN static constexpr std::uint8_t kUnweave[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  const auto unweave = hn::LoadDup128(d8, kUnweave);
  const auto zero = hn::Zero(d8);
  const auto luma16 = [&](auto r, auto g, auto b) {
    const auto luma32 = [&](auto rg, auto gb) {
      const auto partial = pair_multiply_add(di32, hn::BitCast(di16, rg), red_green, half);
      return hn::ShiftRight<16>(pair_multiply_add(di32, hn::BitCast(di16, gb), green_blue, partial));
    };
    return hn::ReorderDemote2To(di16, luma32(hn::InterleaveLower(d16, r, g), hn::InterleaveLower(d16, g, b)),
                                luma32(hn::InterleaveUpper(d16, r, g), hn::InterleaveUpper(d16, g, b)));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<decltype(d8)> r, g, b;
    hn::LoadInterleaved3(d8, rgb + 3 * i, r, g, b);
    // Widening by interleaving with zero stays within 128-bit blocks; the packing above reverses it block by block.
    const auto low =
        luma16(hn::BitCast(d16, hn::InterleaveLower(d8, r, zero)), hn::BitCast(d16, hn::InterleaveLower(d8, g, zero)),
               hn::BitCast(d16, hn::InterleaveLower(d8, b, zero)));
    const auto high =
        luma16(hn::BitCast(d16, hn::InterleaveUpper(d8, r, zero)), hn::BitCast(d16, hn::InterleaveUpper(d8, g, zero)),
               hn::BitCast(d16, hn::InterleaveUpper(d8, b, zero)));
    const auto woven = hn::Or(hn::BitCast(d8, low), hn::BitCast(d8, hn::ShiftLeft<8>(high)));
    hn::StoreU(hn::TableLookupBytes(woven, unweave), d8, luma + i);
  }
  for (; i < count; ++i) luma[i] = luma_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

#endif

}  // namespace millrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace {

HWY_EXPORT(Luma);

void luma_from_rgb(const std::uint8_t* rgb, std::uint8_t* luma, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(Luma)(rgb, luma, count);
}

}  // namespace millrace
#endif
