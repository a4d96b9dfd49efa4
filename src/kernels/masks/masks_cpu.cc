#include "src/kernels/masks/masks.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/masks/masks_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/masks/masks_math.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::masks::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MILLRACE_PORTABLE_TARGET

void Mix(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out, std::size_t count) {
  mix_reference(a, b, weight, out, count);
}
void Blend8(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
            std::size_t count) {
  blend_reference(back, front, mask, out, count);
}
void Blend16(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask, std::uint16_t* out,
             std::size_t count) {
  blend_reference(back, front, mask, out, count);
}

#else

// A single instruction computes (x * y + 2^14) >> 15, rounded. Twice the difference gives the required result, and for
// a mask's values twice the weight.
void Mix(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out, std::size_t count) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto w = hn::Set(d, static_cast<std::int16_t>(2 * weight));
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::BitCast(d, hn::LoadU(du, a + i)), y = hn::BitCast(d, hn::LoadU(du, b + i));
    hn::StoreU(hn::BitCast(du, hn::Add(x, hn::MulFixedPoint15(hn::Sub(y, x), w))), du, out + i);
  }
  mix_reference(a + i, b + i, weight, out + i, count - i);
}

void Blend8(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
            std::size_t count) {
  const hn::ScalableTag<std::int16_t> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::PromoteTo(d, hn::LoadU(d8, back + i)), y = hn::PromoteTo(d, hn::LoadU(d8, front + i));
    const auto w = hn::BitCast(d, hn::LoadU(du, mask + i));
    const auto mixed = hn::Add(x, hn::MulFixedPoint15(hn::ShiftLeft<1>(hn::Sub(y, x)), w));
    hn::StoreU(hn::DemoteTo(d8, mixed), d8, out + i);
  }
  blend_reference(back + i, front + i, mask + i, out + i, count - i);
}

// Differences have 16 bits, and products 31, so each half of a vector is processed by itself.
void Blend16(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask, std::uint16_t* out,
             std::size_t count) {
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const std::size_t lanes = hn::Lanes(d);
  const auto half = hn::Set(d, 1 << 13);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::PromoteTo(d, hn::LoadU(d16, back + i)), y = hn::PromoteTo(d, hn::LoadU(d16, front + i));
    const auto w = hn::PromoteTo(d, hn::LoadU(d16, mask + i));
    const auto mixed = hn::Add(x, hn::ShiftRight<14>(hn::Add(hn::Mul(hn::Sub(y, x), w), half)));
    hn::StoreU(hn::DemoteTo(d16, mixed), d16, out + i);
  }
  blend_reference(back + i, front + i, mask + i, out + i, count - i);
}

#endif

}  // namespace millrace::masks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::masks {

HWY_EXPORT(Mix);
HWY_EXPORT(Blend8);
HWY_EXPORT(Blend16);

void mix(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t weight, std::uint16_t* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(Mix)(a, b, weight, out, count);
}
void blend(const std::uint8_t* back, const std::uint8_t* front, const std::uint16_t* mask, std::uint8_t* out,
           std::size_t count) {
  HWY_DYNAMIC_DISPATCH(Blend8)(back, front, mask, out, count);
}
void blend(const std::uint16_t* back, const std::uint16_t* front, const std::uint16_t* mask, std::uint16_t* out,
           std::size_t count) {
  HWY_DYNAMIC_DISPATCH(Blend16)(back, front, mask, out, count);
}

}  // namespace millrace::masks
#endif
