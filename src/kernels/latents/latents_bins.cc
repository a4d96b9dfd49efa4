#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/latents/latents_counts.h"
#include "src/kernels/latents/latents_half.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_bins.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef MILLRACE_LATENTS_BINS_CC_
#define MILLRACE_LATENTS_BINS_CC_
namespace millrace::latents {

using HalfEdges = std::array<std::int16_t, kEdges>;
using FloatEdges = std::array<float, kEdges>;
using Reached = std::array<std::uint32_t, kEdges>;

}  // namespace millrace::latents
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

#if MILLRACE_PORTABLE_TARGET

void HalfRange(const std::uint16_t* values, std::size_t count, std::int16_t& low, std::int16_t& high) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    low = std::min(low, order);
    high = std::max(high, order);
  }
}

void FloatRange(const float* values, std::size_t count, float& low, float& high) {
  for (std::size_t i = 0; i < count; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
}

void CountHalves(const std::uint16_t* values, std::size_t count, const HalfEdges& edges, Reached& reached) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    for (std::size_t k = 0; k < kEdges; ++k) reached[k] += order > edges[k] ? 1 : 0;
  }
}

void CountFloats(const float* values, std::size_t count, const FloatEdges& edges, Reached& reached) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < kEdges; ++k) reached[k] += values[i] >= edges[k] ? 1 : 0;
}

void BinHalves(const std::uint16_t* values, std::size_t count, const HalfEdges& edges, std::uint16_t* bins) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    int bin = 0;
    for (const std::int16_t edge : edges) bin += order > edge ? 1 : 0;
    bins[i] = static_cast<std::uint16_t>(bin);
  }
}

void BinFloats(const float* values, std::size_t count, const FloatEdges& edges, std::uint16_t* bins) {
  for (std::size_t i = 0; i < count; ++i) {
    int bin = 0;
    for (const float edge : edges) bin += values[i] >= edge ? 1 : 0;
    bins[i] = static_cast<std::uint16_t>(bin);
  }
}

#else
namespace hn = hwy::HWY_NAMESPACE;
using Orders = hn::ScalableTag<std::int16_t>;
using Values = hn::ScalableTag<float>;

HWY_INLINE hn::Vec<Orders> OrderOf(hn::Vec<Orders> half) {
  const Orders d;
  return hn::IfThenElse(hn::Lt(half, hn::Zero(d)), hn::Sub(hn::Set(d, std::numeric_limits<std::int16_t>::min()), half),
                        half);
}

void HalfRange(const std::uint16_t* values, std::size_t count, std::int16_t& low, std::int16_t& high) {
  const Orders d;
  const std::size_t each = hn::Lanes(d);
  auto least = hn::Set(d, low), most = hn::Set(d, high);
  std::size_t i = 0;
  for (; i + each <= count; i += each) {
    const auto order = OrderOf(hn::LoadU(d, reinterpret_cast<const std::int16_t*>(values + i)));
    least = hn::Min(least, order);
    most = hn::Max(most, order);
  }
  alignas(64) std::int16_t lanes[hn::MaxLanes(d)];
  hn::Store(least, d, lanes);
  for (std::size_t k = 0; k < each; ++k) low = std::min(low, lanes[k]);
  hn::Store(most, d, lanes);
  for (std::size_t k = 0; k < each; ++k) high = std::max(high, lanes[k]);
  for (; i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    low = std::min(low, order);
    high = std::max(high, order);
  }
}

void FloatRange(const float* values, std::size_t count, float& low, float& high) {
  const Values d;
  const std::size_t each = hn::Lanes(d);
  auto least = hn::Set(d, low), most = hn::Set(d, high);
  std::size_t i = 0;
  for (; i + each <= count; i += each) {
    const auto value = hn::LoadU(d, values + i);
    least = hn::Min(least, value);
    most = hn::Max(most, value);
  }
  low = hn::GetLane(hn::MinOfLanes(d, least));
  high = hn::GetLane(hn::MaxOfLanes(d, most));
  for (; i < count; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
// Number of edges that are counted at once: as many counters as there are registers for.
constexpr std::size_t kAtOnce = HWY_TARGET == HWY_AVX2 ? 10 : kEdges;

template <std::size_t kCount>
HWY_INLINE void CountHalvesFrom(const std::uint16_t* values, std::size_t count, std::size_t first,
                                const HalfEdges& edges, Reached& reached) {
  const Orders d;
  const std::size_t each = hn::Lanes(d);
  // Number of values that sixteen bits per lane can count.
  const std::size_t most = 16384 * each;
  for (std::size_t begin = 0; begin < count / each * each; begin += most) {
    const std::size_t end = std::min(begin + most, count / each * each);
    hn::Vec<Orders> counters[kCount];
    for (auto& counter : counters) counter = hn::Zero(d);
    for (std::size_t i = begin; i < end; i += each) {
      const auto order = OrderOf(hn::LoadU(d, reinterpret_cast<const std::int16_t*>(values + i)));
      for (std::size_t k = 0; k < kCount; ++k) {
        // A true mask is -1.
        counters[k] = hn::Sub(counters[k], hn::VecFromMask(d, hn::Gt(order, hn::Set(d, edges[first + k]))));
      }
    }
    alignas(64) std::int16_t lanes[hn::MaxLanes(d)];
    for (std::size_t k = 0; k < kCount; ++k) {
      hn::Store(counters[k], d, lanes);
      for (std::size_t lane = 0; lane < each; ++lane) reached[first + k] += static_cast<std::uint32_t>(lanes[lane]);
    }
  }
}

#else

constexpr std::size_t kAtOnce = kEdges;

// Masks are bits on these targets, and the bits are counted.
template <std::size_t kCount>
HWY_INLINE void CountHalvesFrom(const std::uint16_t* values, std::size_t count, std::size_t first,
                                const HalfEdges& edges, Reached& reached) {
  const Orders d;
  const std::size_t each = hn::Lanes(d);
  std::size_t counters[kCount] = {};
  for (std::size_t i = 0; i + each <= count; i += each) {
    const auto order = OrderOf(hn::LoadU(d, reinterpret_cast<const std::int16_t*>(values + i)));
    for (std::size_t k = 0; k < kCount; ++k)
      counters[k] += hn::CountTrue(d, hn::Gt(order, hn::Set(d, edges[first + k])));
  }
  for (std::size_t k = 0; k < kCount; ++k) reached[first + k] += static_cast<std::uint32_t>(counters[k]);
}

#endif

void CountHalves(const std::uint16_t* values, std::size_t count, const HalfEdges& edges, Reached& reached) {
  CountHalvesFrom<kAtOnce>(values, count, 0, edges, reached);
  if constexpr (kAtOnce < kEdges) CountHalvesFrom<kEdges - kAtOnce>(values, count, kAtOnce, edges, reached);
  for (std::size_t i = count - count % hn::Lanes(Orders()); i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    for (std::size_t k = 0; k < kEdges; ++k) reached[k] += order > edges[k] ? 1 : 0;
  }
}

template <std::size_t kCount>
HWY_INLINE void CountFloatsFrom(const float* values, std::size_t count, std::size_t first, const FloatEdges& edges,
                                Reached& reached) {
  const Values d;
  const hn::RebindToSigned<Values> integers;
  const std::size_t each = hn::Lanes(d);
  hn::Vec<decltype(integers)> counters[kCount];
  for (auto& counter : counters) counter = hn::Zero(integers);
  for (std::size_t i = 0; i + each <= count; i += each) {
    const auto value = hn::LoadU(d, values + i);
    for (std::size_t k = 0; k < kCount; ++k) {
      const auto reaches = hn::VecFromMask(d, hn::Ge(value, hn::Set(d, edges[first + k])));
      counters[k] = hn::Sub(counters[k], hn::BitCast(integers, reaches));
    }
  }
  alignas(64) std::int32_t lanes[hn::MaxLanes(d)];
  for (std::size_t k = 0; k < kCount; ++k) {
    hn::Store(counters[k], integers, lanes);
    for (std::size_t lane = 0; lane < each; ++lane) reached[first + k] += static_cast<std::uint32_t>(lanes[lane]);
  }
}

void CountFloats(const float* values, std::size_t count, const FloatEdges& edges, Reached& reached) {
  CountFloatsFrom<kAtOnce>(values, count, 0, edges, reached);
  if constexpr (kAtOnce < kEdges) CountFloatsFrom<kEdges - kAtOnce>(values, count, kAtOnce, edges, reached);
  for (std::size_t i = count - count % hn::Lanes(Values()); i < count; ++i)
    for (std::size_t k = 0; k < kEdges; ++k) reached[k] += values[i] >= edges[k] ? 1 : 0;
}

// Search for the number of edges that a value reaches.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
// Adds one edge to a count. Callers keep two counts, each of every other edge: a single count would wait for itself.
HWY_INLINE hn::Vec<Orders> Reach(hn::Vec<Orders> order, const HalfEdges& edges, std::size_t k, hn::Vec<Orders> before) {
  const Orders d;
  return hn::Sub(before, hn::VecFromMask(d, hn::Gt(order, hn::Set(d, edges[k]))));
}
class BinSearch {
 public:
  HWY_INLINE explicit BinSearch(const HalfEdges& edges) : edges_(edges) {}
  HWY_INLINE hn::Vec<Orders> operator()(hn::Vec<Orders> order) const {
    const Orders d;
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for (std::size_t k = 0; k < kEdges; k += 2) {
      even = Reach(order, edges_, k, even);
      if (k + 1 < kEdges) odd = Reach(order, edges_, k + 1, odd);
    }
    return hn::Add(even, odd);
  }

 private:
  const HalfEdges& edges_;
};
#else
// Binary search: all edges are in one vector, which is halved five times.
class BinSearch {
 public:
  HWY_INLINE explicit BinSearch(const HalfEdges& edges) {
    alignas(64) std::array<std::int16_t, 32> padded;
    padded.fill(std::numeric_limits<std::int16_t>::max());
    std::copy(edges.begin(), edges.end(), padded.begin());
    table_ = hn::Load(Orders(), padded.data());
  }
  HWY_INLINE hn::Vec<Orders> operator()(hn::Vec<Orders> order) const {
    const Orders d;
    auto bin = hn::Zero(d);
    for (std::int16_t step = 16; step > 0; step = static_cast<std::int16_t>(step / 2)) {
      const auto probe = hn::Add(bin, hn::Set(d, static_cast<std::int16_t>(step - 1)));
      hn::Vec<Orders> edge;
      edge.raw = _mm512_permutexvar_epi16(probe.raw, table_.raw);
      bin.raw = _mm512_mask_add_epi16(bin.raw, hn::Gt(order, edge).raw, bin.raw, hn::Set(d, step).raw);
    }
    return bin;
  }

 private:
  hn::Vec<Orders> table_;
};
#endif

void BinHalves(const std::uint16_t* values, std::size_t count, const HalfEdges& edges, std::uint16_t* bins) {
  const Orders d;
  const BinSearch search(edges);
  const std::size_t each = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + each <= count; i += each) {
    const auto order = OrderOf(hn::LoadU(d, reinterpret_cast<const std::int16_t*>(values + i)));
    hn::StoreU(search(order), d, reinterpret_cast<std::int16_t*>(bins + i));
  }
  for (; i < count; ++i) {
    const std::int16_t order = order_of_half(values[i]);
    int bin = 0;
    for (const std::int16_t edge : edges) bin += order > edge ? 1 : 0;
    bins[i] = static_cast<std::uint16_t>(bin);
  }
}

void BinFloats(const float* values, std::size_t count, const FloatEdges& edges, std::uint16_t* bins) {
  const Values d;
  const hn::RebindToSigned<Values> integers;
  const hn::Rebind<std::int16_t, Values> narrow;
  const std::size_t each = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + each <= count; i += each) {
    const auto value = hn::LoadU(d, values + i);
    auto even = hn::Zero(integers), odd = hn::Zero(integers);
    const auto reaches = [&](std::size_t k) HWY_ATTR {
      return hn::BitCast(integers, hn::VecFromMask(d, hn::Ge(value, hn::Set(d, edges[k]))));
    };
    for (std::size_t k = 0; k + 1 < kEdges; k += 2) {
      even = hn::Sub(even, reaches(k));
      odd = hn::Sub(odd, reaches(k + 1));
    }
    even = hn::Sub(even, reaches(kEdges - 1));
    hn::StoreU(hn::DemoteTo(narrow, hn::Add(even, odd)), narrow, reinterpret_cast<std::int16_t*>(bins + i));
  }
  for (; i < count; ++i) {
    int bin = 0;
    for (const float edge : edges) bin += values[i] >= edge ? 1 : 0;
    bins[i] = static_cast<std::uint16_t>(bin);
  }
}

#endif

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(HalfRange);
HWY_EXPORT(FloatRange);
HWY_EXPORT(CountHalves);
HWY_EXPORT(CountFloats);
HWY_EXPORT(BinHalves);
HWY_EXPORT(BinFloats);

namespace {

const std::uint16_t* halves(const LatentSource& source, std::size_t at) {
  return static_cast<const std::uint16_t*>(source.data) + at;
}
const float* floats(const LatentSource& source, std::size_t at) { return static_cast<const float*>(source.data) + at; }

}  // namespace

ValueRange find_range(const LatentSource& source, std::size_t at, std::size_t count) {
  if (source.half) {
    std::int16_t low = std::numeric_limits<std::int16_t>::max(), high = std::numeric_limits<std::int16_t>::min();
    HWY_DYNAMIC_DISPATCH(HalfRange)(halves(source, at), count, low, high);
    return {of_half_order(low), of_half_order(high)};
  }
  float low = std::numeric_limits<float>::infinity(), high = -low;
  HWY_DYNAMIC_DISPATCH(FloatRange)(floats(source, at), count, low, high);
  return {low, high};
}

Counts count_bins(const LatentSource& source, std::size_t at, std::size_t count, const Thresholds& edges) {
  Reached reached{};
  if (source.half) {
    HWY_DYNAMIC_DISPATCH(CountHalves)(halves(source, at), count, edges.halves, reached);
  } else {
    HWY_DYNAMIC_DISPATCH(CountFloats)(floats(source, at), count, edges.floats, reached);
  }
  Counts out{};
  out.front() = static_cast<std::uint32_t>(count) - reached.front();
  for (std::size_t k = 1; k < kEdges; ++k) out[k] = reached[k - 1] - reached[k];
  out.back() = reached.back();
  return out;
}

void find_bins(const LatentSource& source, std::size_t at, std::size_t count, const Thresholds& edges,
               std::uint16_t* bins) {
  if (source.half) {
    HWY_DYNAMIC_DISPATCH(BinHalves)(halves(source, at), count, edges.halves, bins);
  } else {
    HWY_DYNAMIC_DISPATCH(BinFloats)(floats(source, at), count, edges.floats, bins);
  }
}

}  // namespace millrace::latents
#endif
