#include <algorithm>
#include <array>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/elementary.h"
#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_path.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/lanes-inl.h"

#ifndef MILLRACE_LATENTS_PATH_CC_
#define MILLRACE_LATENTS_PATH_CC_
namespace millrace::latents {

// Sums of a step: squared distance, product, squared change.
using PathSums = std::array<double, 3>;
// Values of each lane that are added in float32 before float64 takes over.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr std::size_t kRun = 64;

}  // namespace millrace::latents
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

template <class V, bool kPrevious>
HWY_INLINE void AddSixteen(const Lanes& now, const Lanes& before, const Lanes& previous, V* sums) {
  const V step = as<V>(now) - as<V>(before);
  sums[0] = multiply_add(step, step, sums[0]);
  if constexpr (kPrevious) {
    const V last = as<V>(before) - as<V>(previous), change = step - last;
    sums[1] = multiply_add(step, last, sums[1]);
    sums[2] = multiply_add(change, change, sums[2]);
  }
}

template <class V, bool kPrevious>
HWY_INLINE void AddPath(const LatentSource& now, const LatentSource& before, const LatentSource& previous,
                        std::size_t count, std::array<Sum, 3>& all) {
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t begin = 0; begin < whole; begin += kRun * kLanes) {
    V sums[3];
    for (V& sum : sums) sum = V::all(0);
    for (std::size_t i = begin; i < std::min(begin + kRun * kLanes, whole); i += kLanes) {
      AddSixteen<V, kPrevious>(sixteen_of(now, i), sixteen_of(before, i),
                               kPrevious ? sixteen_of(previous, i) : Lanes::all(0), sums);
    }
    for (std::size_t k = 0; k < 3; ++k) add_to(all[k], sums[k]);
  }
  if (whole == count) return;
  // The remaining values get lanes of their own.
  const auto rest = [&](const LatentSource& source) HWY_ATTR {
    alignas(64) float values[kLanes] = {};
    for (std::size_t i = whole; i < count; ++i) values[i - whole] = value_of(source, i);
    return Lanes::at(values);
  };
  V sums[3];
  for (V& sum : sums) sum = V::all(0);
  AddSixteen<V, kPrevious>(rest(now), rest(before), kPrevious ? rest(previous) : Lanes::all(0), sums);
  for (std::size_t k = 0; k < 3; ++k) add_to(all[k], sums[k]);
}

PathSums SumPath(const LatentSource& now, const LatentSource& before, const LatentSource* previous, std::size_t count) {
  std::array<Sum, 3> all{};
  // Differences of float16 are exact in float32. Differences of float32 are not: on a straight line their rounding
  // would be all of the change.
  if (now.half && previous != nullptr) {
    AddPath<Lanes, true>(now, before, *previous, count, all);
  } else if (now.half) {
    AddPath<Lanes, false>(now, before, before, count, all);
  } else if (previous != nullptr) {
    AddPath<Wide, true>(now, before, *previous, count, all);
  } else {
    AddPath<Wide, false>(now, before, before, count, all);
  }
  PathSums out{};
  for (std::size_t k = 0; k < out.size(); ++k)
    for (const double lane : all[k]) out[k] += lane;
  return out;
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(SumPath);

Step measure_step(const ArrayView& now, const ArrayView& before, const ArrayView* previous) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, now.elements()));
  if (before.type != now.type || (previous != nullptr && previous->type != now.type))
    throw Failure(ErrorCode::usage, "all latents of a video must have one type", name_of(before.type), "");
  const LatentSource here = source_of(now, count), last = source_of(before, count);
  LatentSource first;
  if (previous != nullptr) first = source_of(*previous, count);
  const PathSums sums = HWY_DYNAMIC_DISPATCH(SumPath)(here, last, previous == nullptr ? nullptr : &first, count);
  Step out;
  if (!std::isfinite(sums[0])) return out;
  out.distance = std::sqrt(sums[0]);
  if (previous == nullptr || !std::isfinite(sums[1]) || !std::isfinite(sums[2])) return out;
  out.product = sums[1];
  out.change = std::sqrt(sums[2]);
  return out;
}

std::optional<Trajectory> measure_trajectory(std::span<const Step> steps, double end_to_end) {
  if (steps.empty()) return std::nullopt;
  Trajectory out{};
  double changes = 0, angles = 0, turned = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    if (std::isnan(steps[t].distance) || (t > 0 && std::isnan(steps[t].product))) return std::nullopt;
    out.path += steps[t].distance;
    if (t == 0) continue;
    changes += steps[t].change;
    // A step of length 0 has no direction.
    const double lengths = steps[t].distance * steps[t - 1].distance;
    if (lengths == 0) continue;
    angles += arc_cosine(steps[t].product / lengths);
    ++turned;
  }
  const auto count = static_cast<double>(steps.size());
  out.velocity = out.path / count;
  out.acceleration = steps.size() > 1 ? changes / (count - 1) : Measures::kAbsent;
  out.turning_angle = turned > 0 ? angles / turned : Measures::kAbsent;
  out.linearity = out.path > 0 ? end_to_end / out.path : Measures::kAbsent;
  out.tortuosity = end_to_end > 0 ? out.path / end_to_end : Measures::kAbsent;
  out.half_life = Measures::kAbsent;
  double behind = 0;
  for (std::size_t t = 0; t < steps.size() && out.path > 0; ++t) {
    behind += steps[t].distance;
    if (behind < out.path / 2) continue;
    out.half_life = static_cast<double>(t + 1);
    break;
  }
  return out;
}

}  // namespace millrace::latents
#endif
