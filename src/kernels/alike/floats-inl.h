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

// Fours of the compiler's own vectors, which every machine has. Plain loops over arrays that are passed by value take
// five times as long with GCC 12: a coarse search 13.4 us and 2.6.
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
  // Lanes 0, 2, 4... of twice as many floats, and 1, 3, 5...
  static void pairs_at(const float* from, Floats& even, Floats& odd) {
    for (std::size_t p = 0; p < kParts; ++p) {
      V low, high;
      std::memcpy(&low, from + 2 * p * kEach, sizeof low);
      std::memcpy(&high, from + (2 * p + 1) * kEach, sizeof high);
      even.part[p] = V{low[0], low[2], high[0], high[2]};
      odd.part[p] = V{low[1], low[3], high[1], high[3]};
    }
  }
  void put(float* to) const { std::memcpy(to, part, sizeof part); }
  // Whole numbers of at most 2^22.
  void put(std::int32_t* to) const {
    for (std::size_t p = 0; p < kParts; ++p) {
      const I whole = __builtin_convertvector(part[p], I);
      std::memcpy(to + p * kEach, &whole, sizeof whole);
    }
  }
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
  friend Floats lesser(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] < b.part[p] ? a.part[p] : b.part[p]; });
  }
  friend Floats greater(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) { return a.part[p] > b.part[p] ? a.part[p] : b.part[p]; });
  }
  // Towards zero.
  friend Floats whole(const Floats& a) {
    return made([&](std::size_t p) { return __builtin_convertvector(__builtin_convertvector(a.part[p], I), V); });
  }
  // 1 where low <= a <= high, 0 elsewhere.
  friend Floats between(const Floats& a, float low, float high) {
    const V one = all(1.0F).part[0];
    return made([&](std::size_t p) { return V(I(one) & (a.part[p] >= low) & (a.part[p] <= high)); });
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
  // Lanes 0, 2, 4... of twice as many floats, and 1, 3, 5...
  static HWY_INLINE void pairs_at(const float* from, Floats& even, Floats& odd) {
    for (std::size_t p = 0; p < kParts; ++p) hn::LoadInterleaved2(D(), from + 2 * p * kEach, even.part[p], odd.part[p]);
  }
  HWY_INLINE void put(float* to) const {
    for (std::size_t p = 0; p < kParts; ++p) hn::StoreU(part[p], D(), to + p * kEach);
  }
  // Whole numbers of at most 2^22: beside 2^23 they are the low bits.
  HWY_INLINE void put(std::int32_t* to) const {
    const hn::RebindToSigned<D> integers;
    const auto large = hn::Set(D(), 0x1p23F);
    const auto low = hn::Set(integers, 0x7FFFFF);
    for (std::size_t p = 0; p < kParts; ++p)
      hn::StoreU(hn::And(hn::BitCast(integers, hn::Add(part[p], large)), low), integers, to + p * kEach);
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
  friend HWY_INLINE Floats lesser(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Min(a.part[p], b.part[p]); });
  }
  friend HWY_INLINE Floats greater(const Floats& a, const Floats& b) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Max(a.part[p], b.part[p]); });
  }
  // Towards zero.
  friend HWY_INLINE Floats whole(const Floats& a) {
    return made([&](std::size_t p) HWY_ATTR { return hn::Trunc(a.part[p]); });
  }
  // 1 where low <= a <= high, 0 elsewhere.
  friend HWY_INLINE Floats between(const Floats& a, float low, float high) {
    const auto from = hn::Set(D(), low), to = hn::Set(D(), high), one = hn::Set(D(), 1.0F);
    return made([&](std::size_t p) HWY_ATTR {
      return hn::IfThenElseZero(hn::And(hn::Ge(a.part[p], from), hn::Le(a.part[p], to)), one);
    });
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
