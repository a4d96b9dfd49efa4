#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "src/kernels/latents/latents_half.h"
#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_gather.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/lanes-inl.h"

#ifndef MILLRACE_LATENTS_GATHER_CC_
#define MILLRACE_LATENTS_GATHER_CC_
namespace millrace::latents {

// Pixels that are worked on while they are in the nearest cache, over all frames.
constexpr std::size_t kBlock = 128;

struct Planar {
  // With room behind each for a vector that goes over.
  alignas(64) std::array<std::array<float, kBlock>, kLanes> channel;
};

}  // namespace millrace::latents
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {
#undef MILLRACE_LATENTS_TURN_HALVES

#if MILLRACE_PORTABLE_TARGET

void Convert(const Source& source, std::size_t at, std::size_t count, float pilot, float* to) {
  if (source.half) {
    const auto* from = static_cast<const std::uint16_t*>(source.data) + at;
    for (std::size_t i = 0; i < count; ++i) to[i] = of_half(from[i]) - pilot;
  } else {
    const auto* from = static_cast<const float*>(source.data) + at;
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i] - pilot;
  }
}

// Pixels i to i + 3 of sixteen channels.
void Turn(const Planar& planar, std::size_t i, Lanes* out) {
  for (std::size_t t = 0; t < 4; ++t) {
    alignas(64) std::array<float, kLanes> lanes;
    for (std::size_t c = 0; c < kLanes; ++c) lanes[c] = planar.channel[c][i + t];
    out[t] = Lanes::at(lanes.data());
  }
}

#else

void Convert(const Source& source, std::size_t at, std::size_t count, float pilot, float* to) {
  const hn::ScalableTag<float> d;
  const std::size_t each = hn::Lanes(d);
  const auto less = hn::Set(d, pilot);
  if (source.half) {
    const hn::Rebind<hwy::float16_t, decltype(d)> halves;
    const auto* from = static_cast<const hwy::float16_t*>(source.data) + at;
    std::size_t i = 0;
    for (; i + each <= count; i += each)
      hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(halves, from + i)), less), d, to + i);
    if (i < count) {
      std::array<hwy::float16_t, 64> rest{};
      std::memcpy(rest.data(), from + i, (count - i) * sizeof(hwy::float16_t));
      hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(halves, rest.data())), less), d, to + i);
    }
  } else {
    const auto* from = static_cast<const float*>(source.data) + at;
    std::size_t i = 0;
    for (; i + each <= count; i += each) hn::StoreU(hn::Sub(hn::LoadU(d, from + i), less), d, to + i);
    for (; i < count; ++i) to[i] = from[i] - pilot;
  }
}

// Four channels a block of four lanes: then all exchanges stay within blocks.
template <class L = Lanes>
HWY_INLINE L FourOfEach(const Planar& planar, std::size_t first, std::size_t i) {
  const hn::Full128<float> four;
  const auto load = [&](std::size_t c) HWY_ATTR { return hn::Load(four, planar.channel[c].data() + i); };
  L out;
  if constexpr (L::kEach == 16) {
    const hn::Half<typename L::D> eight;
    out.part[0] = hn::Combine(typename L::D(), hn::Combine(eight, load(first + 12), load(first + 8)),
                              hn::Combine(eight, load(first + 4), load(first)));
  } else if constexpr (L::kEach == 8) {
    out.part[0] = hn::Combine(typename L::D(), load(first + 4), load(first));
    out.part[1] = hn::Combine(typename L::D(), load(first + 12), load(first + 8));
  } else {
    for (std::size_t p = 0; p < L::kParts; ++p) out.part[p] = load(first + 4 * p);
  }
  return out;
}

// Pixels i to i + 3 of sixteen channels.
HWY_INLINE void Turn(const Planar& planar, std::size_t i, Lanes* out) {
  const Lanes a = FourOfEach(planar, 0, i), b = FourOfEach(planar, 1, i), c = FourOfEach(planar, 2, i),
              e = FourOfEach(planar, 3, i);
  const Lanes::D d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<Lanes::D> > pairs;
  for (std::size_t p = 0; p < Lanes::kParts; ++p) {
    const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a.part[p], b.part[p]));
    const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a.part[p], b.part[p]));
    const auto ce = hn::BitCast(pairs, hn::InterleaveLower(d, c.part[p], e.part[p]));
    const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c.part[p], e.part[p]));
    out[0].part[p] = hn::BitCast(d, hn::InterleaveLower(pairs, ab, ce));
    out[1].part[p] = hn::BitCast(d, hn::InterleaveUpper(pairs, ab, ce));
    out[2].part[p] = hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high));
    out[3].part[p] = hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high));
  }
}

#endif

// Where a group's channels lie in one frame, from a block's first pixel on.
struct FrameSource {
  const Source& source;
  std::size_t at = 0, to_next = 0;  // number of the first channel's first value; from channel to channel
  std::size_t channels = 0;
  const float* pilots = nullptr;

  // Pixels [begin, end) as floats less their pilots.
  void convert(std::size_t begin, std::size_t end, Planar& planar) const {
    for (std::size_t c = 0; c < channels; ++c)
      Convert(source, at + c * to_next + begin, end - begin, pilots[c], planar.channel[c].data() + begin);
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define MILLRACE_LATENTS_TURN_HALVES 1

// Eight channels, of which each has sixteen halves: out[p] has pixels p and 8 + p of all eight, a block each.
template <class D, class V>
HWY_INLINE void TurnEight(D d, const V* in, V* out) {
  const hn::RepartitionToWide<D> pairs;
  const hn::RepartitionToWide<decltype(pairs)> fours;
  const auto lower = [&](std::size_t c)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, in[c], in[c + 1])); };
  const auto upper = [&](std::size_t c)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, in[c], in[c + 1])); };
  const auto put = [&](const auto& a, const auto& b, const auto& c, const auto& e, std::size_t p) HWY_ATTR {
    // Two pixels of four channels each, then four of eight.
    const auto ab = hn::BitCast(fours, hn::InterleaveLower(pairs, a, b)),
               ab_next = hn::BitCast(fours, hn::InterleaveUpper(pairs, a, b)),
               ce = hn::BitCast(fours, hn::InterleaveLower(pairs, c, e)),
               ce_next = hn::BitCast(fours, hn::InterleaveUpper(pairs, c, e));
    out[p] = hn::BitCast(d, hn::InterleaveLower(fours, ab, ce));
    out[p + 1] = hn::BitCast(d, hn::InterleaveUpper(fours, ab, ce));
    out[p + 2] = hn::BitCast(d, hn::InterleaveLower(fours, ab_next, ce_next));
    out[p + 3] = hn::BitCast(d, hn::InterleaveUpper(fours, ab_next, ce_next));
  };
  put(lower(0), lower(2), lower(4), lower(6), 0);
  put(upper(0), upper(2), upper(4), upper(6), 4);
}

template <class V, class L = Lanes>
HWY_INLINE L FloatsOf(const V& halves) {
  const hn::Full256<hwy::float16_t> d;
  const hn::Full128<hwy::float16_t> half;
  const auto all = hn::BitCast(d, halves);
  L out;
  if constexpr (L::kParts == 1) {
    out.part[0] = hn::PromoteTo(typename L::D(), all);
  } else {
    out.part[0] = hn::PromoteTo(typename L::D(), hn::LowerHalf(half, all));
    out.part[1] = hn::PromoteTo(typename L::D(), hn::UpperHalf(half, all));
  }
  return out;
}

// Sixteen pixels of sixteen channels, turned while they are halves.
HWY_INLINE void TurnHalves(const FrameSource& from, std::size_t i, Lanes* out) {
  const hn::Full256<std::uint16_t> d;
  using V = hn::Vec<decltype(d)>;
  const auto* const halves = static_cast<const std::uint16_t*>(from.source.data) + from.at + i;
  V in[kLanes], low[kLanes / 2], high[kLanes / 2];
  for (std::size_t c = 0; c < kLanes; ++c)
    in[c] = c < from.channels ? hn::LoadU(d, halves + c * from.to_next) : hn::Zero(d);
  TurnEight(d, in, low);
  TurnEight(d, in + kLanes / 2, high);
  for (std::size_t p = 0; p < kLanes / 2; ++p) {
    out[p] = FloatsOf(hn::ConcatLowerLower(d, high[p], low[p]));
    out[kLanes / 2 + p] = FloatsOf(hn::ConcatUpperUpper(d, high[p], low[p]));
  }
}

#else
#define MILLRACE_LATENTS_TURN_HALVES 0
#endif

// Sixteen sums side by side, of every sixteenth value each.
double Total(const Source& source, std::size_t at, std::size_t count) {
  alignas(64) std::array<float, kBlock> values;
  Wide sums = Wide::all(0);
  for (std::size_t i = 0; i < count; i += kBlock) {
    const std::size_t some = std::min(kBlock, count - i);
    Convert(source, at + i, some, 0, values.data());
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(some), values.end(), 0.0F);
    for (std::size_t k = 0; k < kBlock; k += kLanes) sums += widened(Lanes::at(values.data() + k));
  }
  alignas(64) std::array<double, kLanes> lanes;
  sums.put(lanes.data());
  double out = 0;
  for (const double lane : lanes) out += lane;
  return out;
}

// What differs from the first frame, by pixel: its sum, and that of its squares.
template <class Number>
struct Differences {
  alignas(64) std::array<Number, kBlock * kLanes> sum, squares;
};

// Where one frame's values go, and what they are compared with: the frame before and the first one.
template <class Number>
struct FrameTarget {
  float* to = nullptr;
  const float *before = nullptr, *first = nullptr;
  Differences<Number>& differences;
};

// What all of a frame's pixels are added to.
template <class V>
struct FrameSums {
  Lanes magnitude, motion;
  V product;
  // One that the compiler makes would not be compiled for the level.
  HWY_INLINE FrameSums() : magnitude(Lanes::all(0)), motion(Lanes::all(0)), product(V::all(0)) {}
};

template <class V, bool kFirst, class Number>
HWY_INLINE void TakePixel(const Lanes& y, const Lanes& pilot, std::size_t at, const FrameTarget<Number>& target,
                          FrameSums<V>& sums) {
  Number *const sum = target.differences.sum.data() + at, *const squares = target.differences.squares.data() + at;
  sums.magnitude += size_of(y + pilot);
  y.put(target.to + at);
  if constexpr (kFirst) {
    V::all(0).put(sum);
    V::all(0).put(squares);
  } else {
    const Lanes last = Lanes::at(target.before + at);
    sums.motion += size_of(y - last);
    const V here = as<V>(y);
    sums.product += here * as<V>(last);
    const V differs = here - pixel_at<V>(target.first + at);
    (V::at(sum) + differs).put(sum);
    (V::at(squares) + differs * differs).put(squares);
  }
}

// One frame of a block of pixels.
template <class V, bool kFirst, class Number>
HWY_INLINE void GatherFrame(const FrameSource& from, std::size_t count, const Lanes& pilot, Planar& planar,
                            const FrameTarget<Number>& target, GatherSums& sums, std::size_t f) {
  FrameSums<V> own;
  std::size_t done = 0;
#if MILLRACE_LATENTS_TURN_HALVES
  if (from.source.half) {
    for (; done + kLanes <= count; done += kLanes) {
      Lanes pixels[kLanes];
      TurnHalves(from, done, pixels);
      for (std::size_t t = 0; t < kLanes; ++t)
        TakePixel<V, kFirst>(pixels[t] - pilot, pilot, (done + t) * kLanes, target, own);
    }
  }
#endif
  from.convert(done, count, planar);
  for (; done < count; done += 4) {
    Lanes four[4];
    Turn(planar, done, four);
    const std::size_t some = std::min<std::size_t>(4, count - done);
    for (std::size_t t = 0; t < some; ++t) TakePixel<V, kFirst>(four[t], pilot, (done + t) * kLanes, target, own);
  }
  add_to(sums.magnitude, own.magnitude);
  if constexpr (!kFirst) {
    add_to(sums.motion[f], own.motion);
    add_to(sums.product[f], own.product);
  }
}

template <class V, class Number>
void GatherIn(const Source& source, const Shape& shape, int group, const float* pilots, float* values, GatherSums& sums,
              double* image) {
  const std::size_t pixels = shape.pixels(), first_channel = static_cast<std::size_t>(group) * kLanes;
  const auto frames = static_cast<std::size_t>(shape.frames);
  const std::size_t channels = std::min(kLanes, static_cast<std::size_t>(shape.channels) - first_channel);
  Planar planar;
  for (auto& channel : planar.channel) channel.fill(0);
  alignas(64) std::array<float, kLanes> own_pilots{};
  std::copy_n(pilots + first_channel, channels, own_pilots.data());
  const Lanes pilot = Lanes::at(own_pilots.data());
  const Wide all_frames = Wide::all(static_cast<double>(frames)), wide_pilot = widened(pilot);
  const V per_frame = V::all(Number{1} / static_cast<Number>(frames)),
          per_less_one = V::all(frames > 1 ? Number{1} / static_cast<Number>(frames - 1) : Number{0});
  Differences<Number> differences;
  for (std::size_t b = 0; b < pixels; b += kBlock) {
    const std::size_t count = std::min(kBlock, pixels - b);
    float* const first = values + b * kLanes;
    for (std::size_t f = 0; f < frames; ++f) {
      const FrameSource from{source, (first_channel * frames + f) * pixels + b, frames * pixels, channels,
                             own_pilots.data()};
      float* const to = first + f * pixels * kLanes;
      if (f == 0) {
        GatherFrame<V, true>(from, count, pilot, planar, FrameTarget<Number>{to, nullptr, first, differences}, sums, f);
      } else {
        GatherFrame<V, false>(from, count, pilot, planar,
                              FrameTarget<Number>{to, to - pixels * kLanes, first, differences}, sums, f);
      }
    }
    V temporal = V::all(0);
    for (std::size_t i = 0; i < count; ++i) {
      const V sum = V::at(differences.sum.data() + i * kLanes);
      temporal += (V::at(differences.squares.data() + i * kLanes) - sum * sum * per_frame) * per_less_one;
      if (image == nullptr) continue;
      const Wide all = widened(sum) + all_frames * (widened(Lanes::at(first + i * kLanes)) + wide_pilot);
      alignas(64) std::array<double, kLanes / 2> eight;
      (all.low + all.high).put(eight.data());
      image[b + i] += ((eight[0] + eight[4]) + (eight[2] + eight[6])) + ((eight[1] + eight[5]) + (eight[3] + eight[7]));
    }
    add_to(sums.temporal, temporal);
  }
}

void Gather(const Source& source, const Shape& shape, int group, const float* pilots, float* values, GatherSums& sums,
            double* image) {
  // Of so few pixels float32 does not give correlations to 1e-7.
  if (shape.pixels() < kFewPixels) {
    GatherIn<Wide, double>(source, shape, group, pilots, values, sums, image);
  } else {
    GatherIn<Lanes, float>(source, shape, group, pilots, values, sums, image);
  }
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(Gather);
HWY_EXPORT(Total);

namespace {

// A row of the group's planes for each of the image's, in float64.
void add_image(const float* values, const Shape& shape, int group, double* image) {
  const std::size_t pixels = shape.pixels(), first = static_cast<std::size_t>(group) * kLanes;
  const std::size_t end = std::min(first + kLanes, static_cast<std::size_t>(shape.channels));
  const auto frames = static_cast<std::size_t>(shape.frames);
  for (std::size_t plane = first * frames; plane < end * frames; ++plane)
    for (std::size_t i = 0; i < pixels; ++i) image[i] += values[plane * pixels + i];
}

// To eleven bits, those of float16.
float shortened(double value) {
  if (!std::isfinite(value)) return 0;
  int exponent = 0;
  const double part = std::frexp(value, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(part * 2048), exponent - 11));
}

}  // namespace

void gather(const Source& source, const Shape& shape, int group, const float* pilots, float* values, GatherSums& sums,
            double* image) {
  // What float16 differ by is exact in float32, and so are sums of some; those of float32 would drown the faint end of
  // a spectrum.
  HWY_DYNAMIC_DISPATCH(Gather)(source, shape, group, pilots, values, sums, source.half ? image : nullptr);
  if (!source.half) add_image(static_cast<const float*>(source.data), shape, group, image);
}

void find_pilots(const Source& source, const Shape& shape, std::span<float> pilots) {
  const std::size_t pixels = shape.pixels();
  for (std::size_t c = 0; c < pilots.size(); ++c) {
    const std::size_t at = c * static_cast<std::size_t>(shape.frames) * pixels;
    const double mean = HWY_DYNAMIC_DISPATCH(Total)(source, at, pixels) / static_cast<double>(pixels);
    // Differences of float16 from it are exact then; a constant of float32 is its own pilot.
    pilots[c] = source.half ? shortened(mean) : std::isfinite(mean) ? static_cast<float>(mean) : 0;
  }
}

}  // namespace millrace::latents
#endif
