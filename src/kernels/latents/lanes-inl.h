// Sixteen floats, one per channel, and operations on them; included once per target, inside foreach_target's passes.
#if defined(MILLRACE_LATENTS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_LATENTS_LANES_INL_H_
#undef MILLRACE_LATENTS_LANES_INL_H_
#else
#define MILLRACE_LATENTS_LANES_INL_H_
#endif

#include "src/kernels/floats-inl.h"
#include "src/kernels/latents/latents_half.h"
#include "src/kernels/latents/latents_steps.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using floats::HWY_NAMESPACE::Floats;
using floats::HWY_NAMESPACE::Numbers;

using Lanes = Floats<kLanes>;
using Halves = Numbers<double, kLanes / 2>;

// Converts lanes 0 to 7 and 8 to 15 to double, exactly.
#if MILLRACE_PORTABLE_TARGET
inline void widen(const Lanes& a, Halves& low, Halves& high) {
  alignas(64) float from[kLanes];
  alignas(64) double to[kLanes];
  a.put(from);
  for (std::size_t i = 0; i < kLanes; ++i) to[i] = from[i];
  low = Halves::at(to);
  high = Halves::at(to + kLanes / 2);
}
#else
template <class L>
HWY_INLINE void widen(const L& a, Halves& low, Halves& high) {
  const Halves::D wide;
  const hn::Rebind<float, Halves::D> narrow;
  if constexpr (L::kParts == 1) {
    low.part[0] = hn::PromoteTo(wide, hn::LowerHalf(narrow, a.part[0]));
    high.part[0] = hn::PromoteTo(wide, hn::UpperHalf(narrow, a.part[0]));
  } else {
    constexpr std::size_t kHalf = L::kParts / 2;
    for (std::size_t p = 0; p < kHalf; ++p) {
      low.part[2 * p] = hn::PromoteTo(wide, hn::LowerHalf(narrow, a.part[p]));
      low.part[2 * p + 1] = hn::PromoteTo(wide, hn::UpperHalf(narrow, a.part[p]));
      high.part[2 * p] = hn::PromoteTo(wide, hn::LowerHalf(narrow, a.part[kHalf + p]));
      high.part[2 * p + 1] = hn::PromoteTo(wide, hn::UpperHalf(narrow, a.part[kHalf + p]));
    }
  }
}
#endif

// Sixteen lanes as doubles: for too few values, or too fine ones, for sums in float32.
struct Wide {
  Halves low, high;

  // A constructor that the compiler makes would not be compiled for the CPU level.
  HWY_INLINE Wide() {}
  static HWY_INLINE Wide all(double value) {
    Wide out;
    out.low = out.high = Halves::all(value);
    return out;
  }
  static HWY_INLINE Wide at(const double* from) {
    Wide out;
    out.low = Halves::at(from);
    out.high = Halves::at(from + kLanes / 2);
    return out;
  }
  HWY_INLINE void put(double* to) const {
    low.put(to);
    high.put(to + kLanes / 2);
  }
  HWY_INLINE Wide& operator+=(const Wide& b) {
    low += b.low;
    high += b.high;
    return *this;
  }
};
HWY_INLINE Wide operator+(const Wide& a, const Wide& b) {
  Wide out;
  out.low = a.low + b.low;
  out.high = a.high + b.high;
  return out;
}
HWY_INLINE Wide operator-(const Wide& a, const Wide& b) {
  Wide out;
  out.low = a.low - b.low;
  out.high = a.high - b.high;
  return out;
}
HWY_INLINE Wide operator*(const Wide& a, const Wide& b) {
  Wide out;
  out.low = a.low * b.low;
  out.high = a.high * b.high;
  return out;
}
// Returns a * b + c in float64, rounded twice: not every CPU level can round once there.
HWY_INLINE Wide multiply_add(const Wide& a, const Wide& b, const Wide& c) { return a * b + c; }
// Returns a * b + c, rounded once in float32 and twice in float64: not every CPU level can round once there.
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> product_plus(const Numbers<T, N>& a, const Numbers<T, N>& b, const Numbers<T, N>& c) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return multiply_add(a, b, c);
  } else {
    return a * b + c;
  }
}
HWY_INLINE Wide size_of(const Wide& a) {
  Wide out;
  out.low = greater(a.low, Halves::all(0) - a.low);
  out.high = greater(a.high, Halves::all(0) - a.high);
  return out;
}

HWY_INLINE Wide widened(const Lanes& a) {
  Wide out;
  widen(a, out.low, out.high);
  return out;
}
HWY_INLINE Wide widened(const Wide& a) { return a; }

// Converts sixteen values to this type of numbers.
template <class V>
HWY_INLINE V as(const Lanes& a) {
  if constexpr (sizeof(V) == sizeof(Lanes)) {
    return a;
  } else {
    return widened(a);
  }
}
template <class V>
HWY_INLINE V pixel_at(const float* from) {
  return as<V>(Lanes::at(from));
}

template <class V>
HWY_INLINE void add_to(Sum& sum, const V& a) {
  (Wide::at(sum.data()) + widened(a)).put(sum.data());
}

// Loads sixteen consecutive values of a source.
#if MILLRACE_PORTABLE_TARGET
inline Lanes sixteen_of(const LatentSource& source, std::size_t at) {
  if (!source.half) return Lanes::at(static_cast<const float*>(source.data) + at);
  alignas(64) float values[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i)
    values[i] = half_to_float(static_cast<const std::uint16_t*>(source.data)[at + i]);
  return Lanes::at(values);
}
#else
HWY_INLINE Lanes sixteen_of(const LatentSource& source, std::size_t at) {
  if (!source.half) return Lanes::at(static_cast<const float*>(source.data) + at);
  const hn::Rebind<hwy::float16_t, Lanes::D> halves;
  Lanes out;
  for (std::size_t p = 0; p < Lanes::kParts; ++p) {
    const auto* const from = static_cast<const hwy::float16_t*>(source.data) + at + p * Lanes::kEach;
    out.part[p] = hn::PromoteTo(Lanes::D(), hn::LoadU(halves, from));
  }
  return out;
}
#endif

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
