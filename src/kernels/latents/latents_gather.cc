#include <algorithm>
#include <array>
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

#ifndef MILLRACE_LATENTS_TURN_CC_
#define MILLRACE_LATENTS_TURN_CC_
namespace millrace::latents {

// Number of pixels that are transposed while they are in the nearest cache.
constexpr std::size_t kBlock = 128;

struct Planar {
  // Values by channel. Each array has room for a vector that reaches beyond the last pixel.
  alignas(64) std::array<std::array<float, kBlock>, kLanes> channel;
};

}  // namespace millrace::latents
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {
#undef MILLRACE_LATENTS_TURN_HALVES

#if MILLRACE_PORTABLE_TARGET

void Convert(const LatentSource& source, std::size_t at, std::size_t count, float pilot, float* to) {
  if (source.half) {
    const auto* from = static_cast<const std::uint16_t*>(source.data) + at;
    for (std::size_t i = 0; i < count; ++i) to[i] = half_to_float(from[i]) - pilot;
  } else {
    const auto* from = static_cast<const float*>(source.data) + at;
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i] - pilot;
  }
}

// Transposes pixels i to i + 3 of sixteen channels.
void Turn(const Planar& planar, std::size_t i, Lanes* out) {
  for (std::size_t t = 0; t < 4; ++t) {
    alignas(64) std::array<float, kLanes> lanes;
    for (std::size_t c = 0; c < kLanes; ++c) lanes[c] = planar.channel[c][i + t];
    out[t] = Lanes::at(lanes.data());
  }
}

#else

void Convert(const LatentSource& source, std::size_t at, std::size_t count, float pilot, float* to) {
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

// Loads four pixels of four channels, a channel per block of four lanes: then all exchanges stay within blocks.
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

// Transposes pixels i to i + 3 of sixteen channels.
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

// Place of a group's channels in one frame, from a block's first pixel on.
struct FrameSource {
  const LatentSource& source;
  std::size_t at = 0, to_next = 0;  // index of the first channel's first value; distance between channels
  std::size_t channels = 0;
  const float* pilots = nullptr;

  // Converts pixels [begin, end) to floats less their pilots.
  void convert(std::size_t begin, std::size_t end, Planar& planar) const {
    for (std::size_t c = 0; c < channels; ++c)
      Convert(source, at + c * to_next + begin, end - begin, pilots[c], planar.channel[c].data() + begin);
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define MILLRACE_LATENTS_TURN_HALVES 1

// Transposes eight channels, each of sixteen halves: out[p] has pixels p and 8 + p of all eight, a block each.
template <class D, class V>
HWY_INLINE void TurnEight(D d, const V* in, V* out) {
  const hn::RepartitionToWide<D> pairs;
  const hn::RepartitionToWide<decltype(pairs)> fours;
  const auto lower = [&](std::size_t c)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, in[c], in[c + 1])); };
  const auto upper = [&](std::size_t c)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, in[c], in[c + 1])); };
  const auto put = [&](const auto& a, const auto& b, const auto& c, const auto& e, std::size_t p) HWY_ATTR {
    // The first step joins two pixels of four channels each, the second one four of eight.
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

// Transposes sixteen pixels of sixteen channels while they are halves.
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

// Transposes one frame of a group.
void TurnPlane(const LatentSource& source, const LatentShape& shape, int group, int frame, const float* pilots,
               float* plane) {
  const std::size_t pixels = shape.pixels(), first_channel = static_cast<std::size_t>(group) * kLanes;
  const auto frames = static_cast<std::size_t>(shape.frames), f = static_cast<std::size_t>(frame);
  const std::size_t channels = std::min(kLanes, static_cast<std::size_t>(shape.channels) - first_channel);
  Planar planar;
  for (auto& channel : planar.channel) channel.fill(0);
  alignas(64) std::array<float, kLanes> own_pilots{};
  std::copy_n(pilots + first_channel, channels, own_pilots.data());
  for (std::size_t b = 0; b < pixels; b += kBlock) {
    const std::size_t count = std::min(kBlock, pixels - b);
    const FrameSource from{source, (first_channel * frames + f) * pixels + b, frames * pixels, channels,
                           own_pilots.data()};
    float* const to = plane + b * kLanes;
    std::size_t done = 0;
#if MILLRACE_LATENTS_TURN_HALVES
    const Lanes pilot = Lanes::at(own_pilots.data());
    for (; source.half && done + kLanes <= count; done += kLanes) {
      Lanes turned[kLanes];
      TurnHalves(from, done, turned);
      for (std::size_t t = 0; t < kLanes; ++t) (turned[t] - pilot).put(to + (done + t) * kLanes);
    }
#endif
    from.convert(done, count, planar);
    for (; done < count; done += 4) {
      Lanes four[4];
      Turn(planar, done, four);
      const std::size_t some = std::min<std::size_t>(4, count - done);
      for (std::size_t t = 0; t < some; ++t) four[t].put(to + (done + t) * kLanes);
    }
  }
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(TurnPlane);

void gather_plane(const LatentSource& source, const LatentShape& shape, int group, int frame, const float* pilots,
                  float* plane) {
  HWY_DYNAMIC_DISPATCH(TurnPlane)(source, shape, group, frame, pilots, plane);
}

}  // namespace millrace::latents
#endif
