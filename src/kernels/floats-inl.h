// Groups of N floats or doubles that are computed together, for any vector width of the CPU level. All levels do the
// same operations in the same order, so the bits are the same. Included once per target, inside foreach_target's
// passes. The operators are no friends of the class template: GCC 12 compiles such friends for the baseline, and where
// they are not inlined, parts of vectors are lost in the call.
#if defined(MILLRACE_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MILLRACE_FLOATS_INL_H_
#undef MILLRACE_FLOATS_INL_H_
#else
#define MILLRACE_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "src/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::floats::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if MILLRACE_PORTABLE_TARGET

// Four numbers at a time in the compiler's own vectors, which every machine supports. Plain loops over arrays that are
// passed by value take five times as long with GCC 12: 13.4 us instead of 2.6 us for a coarse search.
template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using V = float __attribute__((vector_size(16)));
};
template <>
struct VectorOf<double> {
  using V = double __attribute__((vector_size(16)));
};
using I = std::int32_t __attribute__((vector_size(16)));

template <typename T, std::size_t N>
struct Numbers {
  using V = typename VectorOf<T>::V;
  static constexpr std::size_t kEach = 16 / sizeof(T), kParts = N / kEach;
  V part[kParts];

  static Numbers all(T value) {
    Numbers out;
    V one;
    for (std::size_t i = 0; i < kEach; ++i) one[i] = value;
    for (V& v : out.part) v = one;
    return out;
  }
  static Numbers at(const T* from) {
    Numbers out;
    std::memcpy(out.part, from, sizeof out.part);
    return out;
  }
  // Returns 1 in lanes [begin, end), 0 elsewhere.
  static Numbers within(int begin, int end) {
    std::array<float, N> in;
    for (std::size_t i = 0; i < N; ++i) in[i] = static_cast<int>(i) >= begin && static_cast<int>(i) < end ? 1.0F : 0.0F;
    return at(in.data());
  }
  static Numbers of_bytes(const std::uint8_t* from) {
    std::array<float, N> out;
    for (std::size_t i = 0; i < N; ++i) out[i] = from[i];
    return at(out.data());
  }
  // Separates bytes interleaved in threes into the first, the second and the third of each.
  static void threes_of_bytes(const std::uint8_t* from, Numbers& first, Numbers& second, Numbers& third) {
    std::array<std::array<float, N>, 3> out;
    for (std::size_t i = 0; i < 3 * N; ++i) out[i % 3][i / 3] = from[i];
    first = at(out[0].data());
    second = at(out[1].data());
    third = at(out[2].data());
  }
  // Looks up each lane's index in a table. Indices are whole numbers from 0 to below 2^24.
  static Numbers lookup(const float* table, const Numbers& index) {
    Numbers out;
    for (std::size_t p = 0; p < kParts; ++p) {
      const I at = __builtin_convertvector(index.part[p], I);
      out.part[p] = V{table[at[0]], table[at[1]], table[at[2]], table[at[3]]};
    }
    return out;
  }
  // Looks up each lane's index in a table of sixteen numbers.
  static Numbers of_sixteen(const float* table, const Numbers& index) { return lookup(table, index); }
  // Separates 2 N floats into lanes 0, 2, 4... and lanes 1, 3, 5...
  static void pairs_at(const float* from, Numbers& even, Numbers& odd) {
    for (std::size_t p = 0; p < kParts; ++p) {
      V low, high;
      std::memcpy(&low, from + 2 * p * kEach, sizeof low);
      std::memcpy(&high, from + (2 * p + 1) * kEach, sizeof high);
      even.part[p] = V{low[0], low[2], high[0], high[2]};
      odd.part[p] = V{low[1], low[3], high[1], high[3]};
    }
  }
  void put(T* to) const { std::memcpy(to, part, sizeof part); }
  // Stores whole numbers of at most 2^22 as integers.
  void put(std::int32_t* to) const {
    for (std::size_t p = 0; p < kParts; ++p) {
      const I whole = __builtin_convertvector(part[p], I);
      std::memcpy(to + p * kEach, &whole, sizeof whole);
    }
  }
  // Adds the lanes in the order of Lanes::total(); sixteen lanes are first folded to eight.
  float total() const {
    V v = part[0] + part[1];
    if constexpr (kParts == 4) v = (part[0] + part[2]) + (part[1] + part[3]);
    return (v[0] + v[2]) + (v[1] + v[3]);
  }
  Numbers& operator+=(const Numbers& b) {
    for (std::size_t p = 0; p < kParts; ++p) part[p] += b.part[p];
    return *this;
  }
};

template <typename T, std::size_t N>
inline Numbers<T, N> operator+(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out = a;
  return out += b;
}
template <typename T, std::size_t N>
inline Numbers<T, N> operator-(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] - b.part[p];
  return out;
}
template <typename T, std::size_t N>
inline Numbers<T, N> operator*(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] * b.part[p];
  return out;
}
template <typename T, std::size_t N>
inline Numbers<T, N> operator/(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] / b.part[p];
  return out;
}
template <std::size_t N>
inline Numbers<float, N> size_of(const Numbers<float, N>& a) {
  using V = VectorOf<float>::V;
  Numbers<float, N> out;
  constexpr std::int32_t kSize = 0x7FFFFFFF;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = V(I(a.part[p]) & I{kSize, kSize, kSize, kSize});
  return out;
}
template <typename T, std::size_t N>
inline Numbers<T, N> lesser(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] < b.part[p] ? a.part[p] : b.part[p];
  return out;
}
template <typename T, std::size_t N>
inline Numbers<T, N> greater(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] > b.part[p] ? a.part[p] : b.part[p];
  return out;
}
// Returns `yes` where a <= b, `no` elsewhere.
template <typename T, std::size_t N>
inline Numbers<T, N> if_at_most(const Numbers<T, N>& a, const Numbers<T, N>& b, const Numbers<T, N>& yes,
                                const Numbers<T, N>& no) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = a.part[p] <= b.part[p] ? yes.part[p] : no.part[p];
  return out;
}
// Rounds towards zero.
template <std::size_t N>
inline Numbers<float, N> whole(const Numbers<float, N>& a) {
  using V = VectorOf<float>::V;
  Numbers<float, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p)
    out.part[p] = __builtin_convertvector(__builtin_convertvector(a.part[p], I), V);
  return out;
}
// Returns a * b + c, rounded once. A product of two float32 is exact in float64, and the sum nearly always has enough
// bits to round correctly to float32. The exceptions are sums that float64 has rounded to the middle between two
// float32, and subnormal sums other than 0. For these std::fma decides.
template <std::size_t N>
inline Numbers<float, N> multiply_add(const Numbers<float, N>& a, const Numbers<float, N>& b,
                                      const Numbers<float, N>& c) {
  using V = VectorOf<float>::V;
  using D = double __attribute__((vector_size(32)));
  using L = std::int64_t __attribute__((vector_size(32)));
  constexpr std::int64_t kBelow = 0x1FFFFFFF, kMiddle = 0x10000000, kSize = 0x7FFFFFFFFFFFFFFF;
  constexpr std::int64_t kMinNormal = 0x3810000000000000;  // 2^-126
  Numbers<float, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) {
    const D sum = __builtin_convertvector(a.part[p], D) * __builtin_convertvector(b.part[p], D) +
                  __builtin_convertvector(c.part[p], D);
    out.part[p] = __builtin_convertvector(sum, V);
    const L bits = L(sum);
    const L size = bits & kSize, doubtful = ((bits & kBelow) == kMiddle) | ((size < kMinNormal) & (size != 0));
    if ((doubtful[0] | doubtful[1] | doubtful[2] | doubtful[3]) == 0) continue;
    for (std::size_t i = 0; i < 4; ++i) {
      if (doubtful[i] != 0) out.part[p][i] = std::fma(a.part[p][i], b.part[p][i], c.part[p][i]);
    }
  }
  return out;
}
// Returns 1 where low <= a <= high, 0 elsewhere.
template <std::size_t N>
inline Numbers<float, N> between(const Numbers<float, N>& a, float low, float high) {
  using V = VectorOf<float>::V;
  Numbers<float, N> out;
  const V one = {1, 1, 1, 1};
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = V(I(one) & (a.part[p] >= low) & (a.part[p] <= high));
  return out;
}

#else

template <typename T, std::size_t N>
struct Numbers {
  using D = hn::CappedTag<T, N>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kEach = hn::MaxLanes(D()), kParts = N / kEach;
  V part[kParts];

  // This constructor is written out, as a compiler-generated one is not compiled for the CPU level either.
  HWY_INLINE Numbers() {}
  static HWY_INLINE Numbers all(T value) {
    Numbers out;
    for (V& v : out.part) v = hn::Set(D(), value);
    return out;
  }
  static HWY_INLINE Numbers at(const T* from) {
    Numbers out;
    for (std::size_t p = 0; p < kParts; ++p) out.part[p] = hn::LoadU(D(), from + p * kEach);
    return out;
  }
  // Returns 1 in lanes [begin, end), 0 elsewhere.
  static HWY_INLINE Numbers within(int begin, int end) {
    Numbers out;
    for (std::size_t p = 0; p < kParts; ++p) out.part[p] = hn::Iota(D(), static_cast<float>(p * kEach));
    return between(out, static_cast<float>(begin), static_cast<float>(end - 1));
  }
  static HWY_INLINE Numbers of_bytes(const std::uint8_t* from) {
    Numbers out;
    const hn::RebindToSigned<D> integers;
    const hn::Rebind<std::uint8_t, D> bytes;
    for (std::size_t p = 0; p < kParts; ++p)
      out.part[p] = hn::ConvertTo(D(), hn::PromoteTo(integers, hn::LoadU(bytes, from + p * kEach)));
    return out;
  }
  // Separates bytes interleaved in threes into the first, the second and the third of each.
  static HWY_INLINE void threes_of_bytes(const std::uint8_t* from, Numbers& first, Numbers& second, Numbers& third) {
    const hn::RebindToSigned<D> integers;
    const hn::Rebind<std::uint8_t, D> bytes;
    for (std::size_t p = 0; p < kParts; ++p) {
      hn::Vec<decltype(bytes)> a, b, c;
      hn::LoadInterleaved3(bytes, from + 3 * p * kEach, a, b, c);
      first.part[p] = hn::ConvertTo(D(), hn::PromoteTo(integers, a));
      second.part[p] = hn::ConvertTo(D(), hn::PromoteTo(integers, b));
      third.part[p] = hn::ConvertTo(D(), hn::PromoteTo(integers, c));
    }
  }
  // Looks up each lane's index in a table. Indices are whole numbers from 0 to below 2^24.
  static HWY_INLINE Numbers lookup(const float* table, const Numbers& index) {
    Numbers out;
    const hn::RebindToSigned<D> integers;
    for (std::size_t p = 0; p < kParts; ++p)
      out.part[p] = hn::GatherIndex(D(), table, hn::ConvertTo(integers, index.part[p]));
    return out;
  }
  // Looks up each lane's index in a table of sixteen numbers, which vectors of eight hold in two.
  static HWY_INLINE Numbers of_sixteen(const float* table, const Numbers& index) {
    if constexpr (kEach == 8) {
      Numbers out;
      const D d;
      const hn::RebindToSigned<D> integers;
      const auto low = hn::LoadU(d, table), high = hn::LoadU(d, table + 8);
      const auto seven = hn::Set(integers, 7);
      for (std::size_t p = 0; p < kParts; ++p) {
        const auto at = hn::ConvertTo(integers, index.part[p]);
        const auto lane = hn::IndicesFromVec(d, hn::And(at, seven));
        out.part[p] = hn::IfThenElse(hn::RebindMask(d, hn::Gt(at, seven)), hn::TableLookupLanes(high, lane),
                                     hn::TableLookupLanes(low, lane));
      }
      return out;
    } else {
      return lookup(table, index);
    }
  }
  // Separates 2 N floats into lanes 0, 2, 4... and lanes 1, 3, 5...
  static HWY_INLINE void pairs_at(const float* from, Numbers& even, Numbers& odd) {
    for (std::size_t p = 0; p < kParts; ++p) hn::LoadInterleaved2(D(), from + 2 * p * kEach, even.part[p], odd.part[p]);
  }
  HWY_INLINE void put(T* to) const {
    for (std::size_t p = 0; p < kParts; ++p) hn::StoreU(part[p], D(), to + p * kEach);
  }
  // Stores whole numbers of at most 2^22 as integers: after adding 2^23 they are the low bits.
  HWY_INLINE void put(std::int32_t* to) const {
    const hn::RebindToSigned<D> integers;
    const auto large = hn::Set(D(), 0x1p23F);
    const auto low = hn::Set(integers, 0x7FFFFF);
    for (std::size_t p = 0; p < kParts; ++p)
      hn::StoreU(hn::And(hn::BitCast(integers, hn::Add(part[p], large)), low), integers, to + p * kEach);
  }
  // Adds the lanes in the order of Lanes::total(); sixteen lanes are first folded to eight.
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
  HWY_INLINE Numbers& operator+=(const Numbers& b) {
    for (std::size_t p = 0; p < kParts; ++p) part[p] = hn::Add(part[p], b.part[p]);
    return *this;
  }

 private:
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

template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> operator+(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out = a;
  return out += b;
}
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> operator-(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Sub(a.part[p], b.part[p]);
  return out;
}
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> operator*(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Mul(a.part[p], b.part[p]);
  return out;
}
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> operator/(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Div(a.part[p], b.part[p]);
  return out;
}
template <std::size_t N>
HWY_INLINE Numbers<float, N> size_of(const Numbers<float, N>& a) {
  Numbers<float, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Abs(a.part[p]);
  return out;
}
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> lesser(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Min(a.part[p], b.part[p]);
  return out;
}
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> greater(const Numbers<T, N>& a, const Numbers<T, N>& b) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Max(a.part[p], b.part[p]);
  return out;
}
// Returns `yes` where a <= b, `no` elsewhere.
template <typename T, std::size_t N>
HWY_INLINE Numbers<T, N> if_at_most(const Numbers<T, N>& a, const Numbers<T, N>& b, const Numbers<T, N>& yes,
                                    const Numbers<T, N>& no) {
  Numbers<T, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p)
    out.part[p] = hn::IfThenElse(hn::Le(a.part[p], b.part[p]), yes.part[p], no.part[p]);
  return out;
}
// Rounds towards zero.
template <std::size_t N>
HWY_INLINE Numbers<float, N> whole(const Numbers<float, N>& a) {
  Numbers<float, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::Trunc(a.part[p]);
  return out;
}
// Returns a * b + c, rounded once; every level above the baseline has an instruction for it.
template <std::size_t N>
HWY_INLINE Numbers<float, N> multiply_add(const Numbers<float, N>& a, const Numbers<float, N>& b,
                                          const Numbers<float, N>& c) {
  Numbers<float, N> out;
  for (std::size_t p = 0; p < a.kParts; ++p) out.part[p] = hn::MulAdd(a.part[p], b.part[p], c.part[p]);
  return out;
}
// Returns 1 where low <= a <= high, 0 elsewhere.
template <std::size_t N>
HWY_INLINE Numbers<float, N> between(const Numbers<float, N>& a, float low, float high) {
  Numbers<float, N> out;
  const typename Numbers<float, N>::D d;
  const auto from = hn::Set(d, low), to = hn::Set(d, high), one = hn::Set(d, 1.0F);
  for (std::size_t p = 0; p < a.kParts; ++p)
    out.part[p] = hn::IfThenElseZero(hn::And(hn::Ge(a.part[p], from), hn::Le(a.part[p], to)), one);
  return out;
}

#endif

template <std::size_t N>
using Floats = Numbers<float, N>;

}  // namespace millrace::floats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
