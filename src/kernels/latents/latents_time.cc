#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/latents/latents_half.h"
#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_time.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/lanes-inl.h"

#ifndef MILLRACE_LATENTS_TIME_CC_
#define MILLRACE_LATENTS_TIME_CC_
namespace millrace::latents {

// Number of vectors of sixteen pixels that are followed through all frames at once: as many as there are registers for.
constexpr std::size_t kAcross = 4;
constexpr std::size_t kBlock = kAcross * kLanes;
// Frames whose magnitudes are added in float32 before float64 takes over.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr std::size_t kRun = 16;

// Values of one channel: [frames, pixels].
struct ChannelSource {
  const LatentSource& source;
  std::size_t at = 0, pixels = 0, frames = 0;
  float pilot = 0;
  float* variances = nullptr;  // [pixels], or none
};

// Sums of each of sixteen pixels side by side, over all such pixels.
struct LaneSums {
  Sum magnitude{}, temporal{};
  std::vector<Sum>&motion, &product;
};

}  // namespace millrace::latents
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

template <class V>
HWY_INLINE V FourTogether(const V* a) {
  return (a[0] + a[1]) + (a[2] + a[3]);
}

// Loads sixteen pixels, of which the first `count` exist; the others are 0.
HWY_INLINE Lanes SomeOf(const LatentSource& source, std::size_t at, std::size_t count) {
  if (count >= kLanes) return sixteen_of(source, at);
  alignas(64) float values[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(source, at + i);
  return Lanes::at(values);
}

// Follows a block of pixels through all frames. A block that is not whole ends within it.
template <class V, bool kWhole>
HWY_INLINE void FollowBlock(const ChannelSource& from, std::size_t begin, LaneSums& sums, double* image) {
  const std::size_t count = std::min(kBlock, from.pixels - begin);
  const auto there = [&](std::size_t k) { return count > k * kLanes ? std::min(kLanes, count - k * kLanes) : 0; };
  const Lanes pilot = Lanes::all(from.pilot);
  Lanes first[kAcross], last[kAcross], magnitude = Lanes::all(0);
  V sum[kAcross], squares[kAcross];
  for (std::size_t f = 0; f < from.frames; ++f) {
    const std::size_t at = from.at + f * from.pixels + begin;
    Lanes here[kAcross], parts[kAcross];
    V products[kAcross];
    for (std::size_t k = 0; k < kAcross; ++k) {
      if constexpr (kWhole) {
        const Lanes x = sixteen_of(from.source, at + k * kLanes);
        parts[k] = size_of(x);
        here[k] = x - pilot;
      } else {
        const Lanes x = SomeOf(from.source, at + k * kLanes, there(k));
        parts[k] = size_of(x);
        here[k] = (x - pilot) * Lanes::within(0, static_cast<int>(there(k)));
      }
    }
    magnitude += FourTogether(parts);
    if (f % kRun == kRun - 1 || f + 1 == from.frames) {
      add_to(sums.magnitude, magnitude);
      magnitude = Lanes::all(0);
    }
    if (f == 0) {
      for (std::size_t k = 0; k < kAcross; ++k) {
        first[k] = last[k] = here[k];
        sum[k] = squares[k] = V::all(0);
      }
      continue;
    }
    for (std::size_t k = 0; k < kAcross; ++k) {
      parts[k] = size_of(here[k] - last[k]);
      products[k] = as<V>(here[k]) * as<V>(last[k]);
      const V differs = as<V>(here[k]) - as<V>(first[k]);
      sum[k] += differs;
      squares[k] = multiply_add(differs, differs, squares[k]);
      last[k] = here[k];
    }
    add_to(sums.motion[f], FourTogether(parts));
    add_to(sums.product[f], FourTogether(products));
  }
  using Number = std::conditional_t<sizeof(V) == sizeof(Lanes), float, double>;
  const auto frames = static_cast<Number>(from.frames);
  const V per_frame = V::all(1 / frames), per_less_one = V::all(from.frames > 1 ? 1 / (frames - 1) : 0);
  V temporal[kAcross];
  for (std::size_t k = 0; k < kAcross; ++k) temporal[k] = (squares[k] - sum[k] * sum[k] * per_frame) * per_less_one;
  add_to(sums.temporal, FourTogether(temporal));
  if (from.variances != nullptr) {
    for (std::size_t k = 0; k < kAcross; ++k) {
      alignas(64) std::array<Number, kLanes> values;
      temporal[k].put(values.data());
      for (std::size_t i = 0; i < there(k); ++i) from.variances[begin + k * kLanes + i] = static_cast<float>(values[i]);
    }
  }
  if (image == nullptr) return;
  const Wide all_frames = Wide::all(static_cast<double>(from.frames)), wide_pilot = widened(pilot);
  for (std::size_t k = 0; k < kAcross; ++k) {
    const Wide all = widened(sum[k]) + all_frames * (widened(first[k]) + wide_pilot);
    double* const to = image + begin + k * kLanes;
    if (kWhole || there(k) == kLanes) {
      (Wide::at(to) + all).put(to);
      continue;
    }
    alignas(64) std::array<double, kLanes> values;
    all.put(values.data());
    for (std::size_t i = 0; i < there(k); ++i) to[i] += values[i];
  }
}

template <class V>
void FollowIn(const ChannelSource& from, LaneSums& sums, double* image) {
  std::size_t begin = 0;
  for (; begin + kBlock <= from.pixels; begin += kBlock) FollowBlock<V, true>(from, begin, sums, image);
  if (begin < from.pixels) FollowBlock<V, false>(from, begin, sums, image);
}

void Follow(const ChannelSource& from, LaneSums& sums, double* image) {
  // Few pixels need float64: float32 does not give correlations to 1e-7.
  if (from.pixels < kFewPixels) {
    FollowIn<Wide>(from, sums, image);
  } else {
    FollowIn<Lanes>(from, sums, image);
  }
}

// Returns the total of sixteen sums side by side, of every sixteenth value each.
double Total(const LatentSource& source, std::size_t at, std::size_t count) {
  Wide sums = Wide::all(0);
  for (std::size_t i = 0; i < count; i += kLanes) sums += widened(SomeOf(source, at + i, count - i));
  alignas(64) std::array<double, kLanes> lanes;
  sums.put(lanes.data());
  double out = 0;
  for (const double lane : lanes) out += lane;
  return out;
}

PilotSums SumsAbout(const LatentSource& source, std::size_t at, std::size_t count, double pilot) {
  const Wide less = Wide::all(pilot);
  Wide sums = Wide::all(0), squares = Wide::all(0);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Wide y = widened(sixteen_of(source, at + i)) - less;
    sums += y;
    squares += y * y;
  }
  alignas(64) std::array<double, kLanes> lanes;
  PilotSums out;
  sums.put(lanes.data());
  for (const double lane : lanes) out.sum += lane;
  squares.put(lanes.data());
  for (const double lane : lanes) out.squares += lane;
  for (; i < count; ++i) {
    const double y = static_cast<double>(value_of(source, at + i)) - pilot;
    out.sum += y;
    out.squares += y * y;
  }
  return out;
}

void Widen(const LatentSource& source, std::size_t at, std::size_t count, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) sixteen_of(source, at + i).put(out + i);
  for (; i < count; ++i) out[i] = value_of(source, at + i);
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(Follow);
HWY_EXPORT(Total);
HWY_EXPORT(SumsAbout);
HWY_EXPORT(Widen);

namespace {

// Adds the channel's planes to the image, in float64.
void add_image(const float* values, std::size_t planes, std::size_t pixels, double* image) {
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::size_t i = 0; i < pixels; ++i) image[i] += values[plane * pixels + i];
}

// Rounds a number to eleven bits, those of float16.
float shortened(double value) {
  if (!std::isfinite(value)) return 0;
  int exponent = 0;
  const double part = std::frexp(value, &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(part * 2048), exponent - 11));
}

double total(const Sum& lanes) {
  double out = 0;
  for (const double lane : lanes) out += lane;
  return out;
}

}  // namespace

TimeSums::Lanes::Lanes(std::size_t frames) : motion(frames), product(frames) {}

void sum_over_time(const LatentSource& source, const LatentShape& shape, int channel, float pilot,
                   TimeSums::Lanes& lanes, TimeSums& sums, double* image, float* variances) {
  const auto frames = static_cast<std::size_t>(shape.frames);
  const std::size_t at = static_cast<std::size_t>(channel) * frames * shape.pixels();
  std::fill(lanes.motion.begin(), lanes.motion.end(), Sum{});
  std::fill(lanes.product.begin(), lanes.product.end(), Sum{});
  LaneSums all{{}, {}, lanes.motion, lanes.product};
  // Differences of float16 are exact in float32, and so are sums of some. The rounding of float32 would hide the faint
  // end of a spectrum.
  HWY_DYNAMIC_DISPATCH(Follow)
  (ChannelSource{source, at, shape.pixels(), frames, pilot, variances}, all, source.half ? image : nullptr);
  if (!source.half && image != nullptr)
    add_image(static_cast<const float*>(source.data) + at, frames, shape.pixels(), image);
  sums.magnitude = total(all.magnitude);
  sums.temporal = total(all.temporal);
  sums.motion.resize(frames);
  sums.product.resize(frames);
  std::transform(lanes.motion.begin(), lanes.motion.end(), sums.motion.begin(), total);
  std::transform(lanes.product.begin(), lanes.product.end(), sums.product.begin(), total);
}

PilotSums sum_about_pilot(const LatentSource& source, std::size_t at, std::size_t count, double pilot) {
  return HWY_DYNAMIC_DISPATCH(SumsAbout)(source, at, count, pilot);
}

void widen(const LatentSource& source, std::size_t at, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(Widen)(source, at, count, out);
}

void find_pilots(const LatentSource& source, const LatentShape& shape, std::span<float> pilots) {
  const std::size_t pixels = shape.pixels();
  for (std::size_t c = 0; c < pilots.size(); ++c) {
    const std::size_t at = c * static_cast<std::size_t>(shape.frames) * pixels;
    const double mean = HWY_DYNAMIC_DISPATCH(Total)(source, at, pixels) / static_cast<double>(pixels);
    // A pilot with float16's bits makes differences from it exact; a constant of float32 is its own pilot.
    pilots[c] = source.half ? shortened(mean) : std::isfinite(mean) ? static_cast<float>(mean) : 0;
  }
}

}  // namespace millrace::latents
#endif
