#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_patch.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

constexpr std::size_t kMoments = 2 * kLanes;  // a patch's mean, and its sum of squared deviations

// Computes the moments of a patch of 4 x 4: the mean first, then the deviations from it.
HWY_INLINE void FourByFour(const float* from, std::size_t row, float* moments) {
  const auto pixel = [&](std::size_t k) HWY_ATTR { return Lanes::at(from + (k / 4) * row + (k % 4) * kLanes); };
  const Lanes upper = ((pixel(0) + pixel(1)) + (pixel(2) + pixel(3))) + ((pixel(4) + pixel(5)) + (pixel(6) + pixel(7)));
  const Lanes lower =
      ((pixel(8) + pixel(9)) + (pixel(10) + pixel(11))) + ((pixel(12) + pixel(13)) + (pixel(14) + pixel(15)));
  const Lanes mean = (upper + lower) * Lanes::all(1.0F / 16);
  Lanes even = Lanes::all(0), odd = Lanes::all(0);
  for (std::size_t k = 0; k < 16; k += 2) {
    const Lanes a = pixel(k) - mean, b = pixel(k + 1) - mean;
    even = multiply_add(a, a, even);
    odd = multiply_add(b, b, odd);
  }
  mean.put(moments);
  (even + odd).put(moments + kLanes);
}

// Joins four patches of `count` pixels each: the deviations of their means are added to those inside them.
HWY_INLINE void Join(const float* a, const float* b, const float* c, const float* e, float count, float* out) {
  const Lanes ma = Lanes::at(a), mb = Lanes::at(b), mc = Lanes::at(c), me = Lanes::at(e);
  const Lanes mean = ((ma + mb) + (mc + me)) * Lanes::all(0.25F);
  const Lanes da = ma - mean, db = mb - mean, dc = mc - mean, de = me - mean;
  const Lanes inside =
      (Lanes::at(a + kLanes) + Lanes::at(b + kLanes)) + (Lanes::at(c + kLanes) + Lanes::at(e + kLanes));
  mean.put(out);
  const Lanes between = multiply_add(da, da, db * db) + multiply_add(dc, dc, de * de);
  multiply_add(Lanes::all(count), between, inside).put(out + kLanes);
}

// Counts values in bins of quarter octaves. Some are gathered in memory first: a count needs its bin in a general
// register. A load from memory is faster than taking lane by lane out of a vector.
class BinCounter {
 public:
  HWY_INLINE BinCounter(std::size_t channels, PatchCounts::OfLanes& counts) : channels_(channels), counts_(counts) {}

  // Adds values. The exponent of a float and two bits of its fraction are its quarter of an octave. A value that is
  // negative by rounding is also the smallest of integers. NaN counts as such too: its sign depends on the machine.
  HWY_INLINE void add(const Lanes& values) {
    constexpr std::int32_t kBefore = ((127 + OctaveBins::kFirstOctave) << 2) - 1,
                           kLast = static_cast<std::int32_t>(OctaveBins::kCount) - 1, kInfinite = 0x7F800000;
    static_assert(OctaveBins::kEach == 4);
    std::int32_t* const bins = bins_ + held_ * kLanes;
#if MILLRACE_PORTABLE_TARGET
    alignas(64) float from[kLanes];
    values.put(from);
    std::memcpy(bins, from, sizeof(from));
    for (std::size_t c = 0; c < kLanes; ++c)
      bins[c] = bins[c] > kInfinite ? 0 : std::clamp((bins[c] >> 21) - kBefore, 0, kLast);
#else
    const hn::RebindToSigned<Lanes::D> d;
    for (std::size_t p = 0; p < Lanes::kParts; ++p) {
      const auto bits = hn::BitCast(d, values.part[p]);
      const auto bin = hn::Sub(hn::ShiftRight<21>(bits), hn::Set(d, kBefore));
      const auto within = hn::Max(hn::Zero(d), hn::Min(bin, hn::Set(d, kLast)));
      hn::StoreU(hn::IfThenZeroElse(hn::Gt(bits, hn::Set(d, kInfinite)), within), d, bins + p * Lanes::kEach);
    }
#endif
    if (++held_ == kHeld) count();
  }
  HWY_INLINE void count() {
    for (const std::int32_t* bins = bins_; bins < bins_ + held_ * kLanes; bins += kLanes) {
      if (channels_ == kLanes) {
        for (std::size_t c = 0; c < kLanes; ++c) ++counts_[c][static_cast<std::size_t>(bins[c])];
      } else {
        for (std::size_t c = 0; c < channels_; ++c) ++counts_[c][static_cast<std::size_t>(bins[c])];
      }
    }
    held_ = 0;
  }

 private:
  static constexpr std::size_t kHeld = 16;

  const std::size_t channels_;
  PatchCounts::OfLanes& counts_;
  std::size_t held_ = 0;
  alignas(64) std::int32_t bins_[kHeld * kLanes];
};

// Computes the variance within patches, averaged over them.
void SumVariance(const float* plane, std::size_t height, std::size_t width, std::size_t channels, float* moments,
                 PatchSums& out, PatchCounts& counts) {
  const std::size_t row = width * kLanes;
  float* from = moments;
  std::size_t from_columns = 0;
  for (std::size_t k = 0; k < kPatches.size(); ++k) {
    const auto side = static_cast<std::size_t>(kPatches[k]);
    const std::size_t rows = height / side, columns = width / side;
    if (rows == 0 || columns == 0) return;
    float* const to = k == 0 ? moments : from + (height / (side / 2)) * from_columns * kMoments;
    const Lanes less_one = Lanes::all(1.0F / static_cast<float>(side * side - 1));
    BinCounter counter(channels, counts.variance[k]);
    for (std::size_t y = 0; y < rows; ++y) {
      Lanes sum = Lanes::all(0);
      for (std::size_t x = 0; x < columns; ++x) {
        float* const patch = to + (y * columns + x) * kMoments;
        if (k == 0) {
          FourByFour(plane + 4 * y * row + 4 * x * kLanes, row, patch);
        } else {
          const float* const upper = from + (2 * y * from_columns + 2 * x) * kMoments;
          const float* const lower = upper + from_columns * kMoments;
          Join(upper, upper + kMoments, lower, lower + kMoments, static_cast<float>(side * side) / 4, patch);
        }
        const Lanes deviations = Lanes::at(patch + kLanes);
        sum += deviations;
        counter.add(deviations * less_one);
      }
      add_to(out.variance[k], sum);
    }
    counter.count();
    const double each = static_cast<double>(rows * columns) * static_cast<double>(side * side - 1);
    for (double& value : out.variance[k]) value /= each;
    from = to;
    from_columns = columns;
  }
}

// Adds values of rows [top, bottom) and columns [left, right), and their squares, to the sums of their place. The
// places are those in a patch of this side: [side, side, 2, 16].
void AddByPlace(const float* plane, std::size_t width, std::size_t top, std::size_t bottom, std::size_t left,
                std::size_t right, std::size_t side, float* places) {
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; x += 2) {
      if (left + x >= right) continue;
      float* const place = places + (y * side + x) * kMoments;
      Lanes s0 = Lanes::at(place), q0 = Lanes::at(place + kLanes), s1 = Lanes::at(place + kMoments),
            q1 = Lanes::at(place + kMoments + kLanes);
      // Regions begin at multiples of the side.
      for (std::size_t r = top + y; r < bottom; r += side) {
        for (std::size_t c = left + x; c < right; c += side) {
          const float* const at = plane + (r * width + c) * kLanes;
          const Lanes a = Lanes::at(at), b = Lanes::at(at + kLanes);
          s0 += a;
          q0 = multiply_add(a, a, q0);
          s1 += b;
          q1 = multiply_add(b, b, q1);
        }
      }
      s0.put(place);
      q0.put(place + kLanes);
      s1.put(place + kMoments);
      q1.put(place + kMoments + kLanes);
    }
  }
}

// Computes the variance across patches, by place in them, averaged over places. The sums of larger patches are used
// again; pixels that only the smaller patches cover are added.
void SumDistinctiveness(const float* plane, std::size_t height, std::size_t width, std::size_t channels, float* scratch,
                        PatchSums& out, PatchCounts& counts) {
  std::size_t covered_height = 0, covered_width = 0;
  float* larger = nullptr;
  std::size_t larger_side = 0;
  for (std::size_t k = kPatches.size(); k-- > 0;) {
    const auto side = static_cast<std::size_t>(kPatches[k]);
    const std::size_t rows = height / side, columns = width / side;
    if (rows == 0 || columns == 0) continue;
    float* const places = larger == nullptr ? scratch : larger + larger_side * larger_side * kMoments;
    std::memset(places, 0, side * side * kMoments * sizeof(float));
    for (std::size_t y = 0; y < larger_side; ++y) {
      for (std::size_t x = 0; x < larger_side; ++x) {
        const float* const from = larger + (y * larger_side + x) * kMoments;
        float* const to = places + ((y % side) * side + x % side) * kMoments;
        (Lanes::at(to) + Lanes::at(from)).put(to);
        (Lanes::at(to + kLanes) + Lanes::at(from + kLanes)).put(to + kLanes);
      }
    }
    AddByPlace(plane, width, 0, covered_height, covered_width, columns * side, side, places);
    AddByPlace(plane, width, covered_height, rows * side, 0, columns * side, side, places);
    covered_height = rows * side;
    covered_width = columns * side;
    larger = places;
    larger_side = side;
    if (rows * columns < 2) continue;
    const Lanes share = Lanes::all(1.0F / static_cast<float>(rows * columns)),
                less_one = Lanes::all(1.0F / static_cast<float>(rows * columns - 1));
    Lanes sum = Lanes::all(0);
    BinCounter counter(channels, counts.distinctiveness[k]);
    for (std::size_t i = 0; i < side * side; ++i) {
      const Lanes s = Lanes::at(places + i * kMoments);
      const Lanes variance = (Lanes::at(places + i * kMoments + kLanes) - s * s * share) * less_one;
      sum += variance;
      counter.add(variance);
    }
    counter.count();
    add_to(out.distinctiveness[k], sum);
    for (double& value : out.distinctiveness[k]) value /= static_cast<double>(side * side);
  }
}

void SumPatches(const float* plane, int height, int width, std::size_t channels, float* scratch, PatchSums& out,
                PatchCounts& counts) {
  const auto h = static_cast<std::size_t>(height), w = static_cast<std::size_t>(width);
  SumVariance(plane, h, w, channels, scratch, out, counts);
  SumDistinctiveness(plane, h, w, channels, scratch, out, counts);
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(SumPatches);

double OctaveBins::edge(std::size_t k) {
  return std::ldexp(1 + static_cast<double>(k % kEach) / kEach, kFirstOctave + static_cast<int>(k / kEach));
}

std::size_t patch_scratch(int height, int width) {
  std::size_t moments = 0, places = 0;
  for (const int side : kPatches) {
    moments += static_cast<std::size_t>(height / side) * static_cast<std::size_t>(width / side);
    places += static_cast<std::size_t>(side * side);
  }
  return 2 * kLanes * std::max(moments, places);
}

void sum_patches(const float* plane, int height, int width, std::size_t channels, float* scratch, PatchSums& out,
                 PatchCounts& counts) {
  HWY_DYNAMIC_DISPATCH(SumPatches)(plane, height, width, channels, scratch, out, counts);
}

}  // namespace millrace::latents
#endif
