// N floats that are worked on together, whatever the level's vectors hold: the same operations in the same order, so
// the same bits. Included once a target, inside foreach_target's passes.
#if defined(MILLRACE_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_FLOATS_INL_H_
#undef MILLRACE_FLOATS_INL_H_
#else
#define MILLRACE_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::alike::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MILLRACE_PORTABLE_TARGET

// Four floats of the compiler's own, which every machine has.
template <std::size_t N>
struct Floats {
  using V = float __attribute__((vector_size(16)));
  using I = std::int32_t __attribute__((vector_size(16)));
  static constexpr std::size_t kEach = 4, kParts = N / kEach;
  V part[kParts];

  static Floats all(float value) {
    return made([&](std::size_t) { return V{value, value, value, value}; });
  }
  static Floats at(const float* from) {
    return made([&](std::size_t p) {
      V v;
      std::memcpy(&v, from + p * kEach, sizeof v);
      return v;
    });
  }
  // 1 in lanes [begin, end), 0 elsewhere.
  static Floats within(int begin, int end) {
    std::array<float, N> in;
    for (std::size_t i = 0; i < N; ++i) in[i] = static_cast<int>(i) >= begin && static_cast<int>(i) < end ? 1.0F : 0.0F;
    return at(in.data());
  }
  void put(float* to) const { std::memcpy(to, part, sizeof part); }
  // As Lanes::total() adds; sixteen are first folded to eight.
  float total() const {
    V v = part[0] + part[1];
    if constexpr (kParts == 4) v = (part[0] + part[2]) + (part[1] + part[3]);
    return (v[0] + v[2]) + (v[1] + v[3]);
  }
  friend Floats operator+(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] + b.part[p]; });
  }
  friend Floats operator-(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] - b.part[p]; });
  }
  friend Floats operator*(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] * b.part[p]; });
  }
  friend Floats operator/(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] / b.part[p]; });
  }
  friend Floats size_of(const Floats& a) {
    constexpr std::int32_t kSize = 0x7FFFFFFF;
    return made([&](std::size_t p) { return V(I(a.part[p]) & I{kSize, kSize, kSize, kSize}); });
  }
  Floats& operator+=(const Floats& other) { return *this = *this + other; }

 private:
  template <typename Of>
  static Floats made(const Of& of) {
    Floats out;
    for (std::size_t p = 0; p < kParts; ++p) out.part[p] = of(p);
    return out;
  }
};

#else

template <std::size_t N>
struct Floats {
  using D = hn::CappedTag<float, N>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kEach = hn::MaxLanes(D()), kParts = N / kEach;
  V part[kParts];

  static HWY_INLINE Floats all(float value) {
    return made([&](std::size_t) HWY_ATTR { return hn::Set(D(), value); });
  }
  static HWY_INLINE Floats at(const float* from) {
    return made([&](std::size_t p) HWY_ATTR { return hn::LoadU(D(), from + p * kEach); });
  }
  // 1 in lanes [begin, end), 0 elsewhere.
  static HWY_INLINE Floats within(int begin, int end) {
    const auto low = hn::Set(D(), static_cast<float>(begin)), high = hn::Set(D(), static_cast<float>(end));
    return made([&](std::size_t p) HWY_ATTR {
      const auto lane = hn::Iota(D(), static_cast<float>(p * kEach));
      return hn::IfThenElseZero(hn::And(hn::Ge(lane, low), hn::Lt(lane, high)), hn::Set(D(), 1.0F));
    });
  }
  HWY_INLINE void put(float* to) const {
    for (std::size_t p = 0; p < kParts; ++p) hn::StoreU(part[p], D(), to + p * kEach);
  }
  // As Lanes::total() adds; sixteen are first folded to eight.
  HWY_INLINE float total() const {
    if constexpr (kParts == 1) {
      return folded(D(), part[0]);
    } else if constexpr (kParts == 2) {
      return folded(D(), hn::Add(part[0], part[1]));
    } else {
      static_assert(kParts == 4);
      return folded(D(), hn::Add(hn::Add(part[0], part[2]), hn::Add(part[1], part[3])));
    }
  }
  friend HWY_INLINE Floats operator+(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Add(a.part[p], b.part[p]); });
  }
  friend HWY_INLINE Floats operator-(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Sub(a.part[p], b.part[p]); });
  }
  friend HWY_INLINE Floats operator*(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Mul(a.part[p], b.part[p]); });
  }
  friend HWY_INLINE Floats operator/(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Div(a.part[p], b.part[p]); });
  }
  friend HWY_INLINE Floats size_of(const Floats& a) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Abs(a.part[p]); });
  }
  HWY_INLINE Floats& operator+=(const Floats& other) { return *this = *this + other; }

 private:
  template <class Of>
  static HWY_INLINE Floats made(const Of& of) {
    Floats out;
    for (std::size_t p = 0; p < kParts; ++p) out.part[p] = of(p);
    return out;
  }
  template <class D1, class V1>
  static HWY_INLINE float folded(D1 d, V1 v) {
    if constexpr (hn::MaxLanes(d) > 4) {
      const hn::Half<D1> half;
      return folded(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    } else {
      const auto pairs = hn::Add(v, hn::Shuffle1032(v));
      return hn::GetLane(hn::Add(pairs, hn::Shuffle2301(pairs)));
    }
  }
};

#endif

}  // namespace millrace::alike::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
