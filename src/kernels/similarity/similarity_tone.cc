#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/similarity/similarity_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/similarity/similarity_tone.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"
#include "src/kernels/similarity/similarity_levels.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::similarity::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;
namespace {

using Row = Floats<16>;
using Eight = Floats<8>;

// Returns 1 where a level may have been clipped.
template <class F>
HWY_INLINE F clipped(const F& levels) {
  return F::all(1) - between(levels, kBlack, kWhite);
}

// Evaluates the curve without clamping.
template <class F>
HWY_INLINE F raised(const Tone& tone, const F& levels) {
  const auto& c = tone.c;
  const F v = levels * F::all(1.0F / 255.0F);
  return F::all(c[0]) + v * (F::all(c[1]) + v * (F::all(c[2]) + v * F::all(c[3])));
}

}  // namespace

float CountClipped(const Levels& levels, const Places& inside) {
  Eight count = Eight::all(0);
  for (const Places& channel : levels) {
    for (std::size_t i = 0; i < kPlaces; i += 8)
      count += Eight::at(inside.data() + i) * clipped(Eight::at(channel.data() + i));
  }
  return count.total();
}

void Weigh(const Places& source, const Places& target, const Places& inside, const Tone* before, Places& weights) {
  constexpr float kAny = 1e9F;  // above any level
  const Row one = Row::all(1);
  for (std::size_t i = 0; i < kPlaces; i += 16) {
    const Row in = Row::at(inside.data() + i), t = Row::at(target.data() + i);
    if (before == nullptr) {
      (in * (one - clipped(t))).put(weights.data() + i);
      continue;
    }
    const Row raw = raised(*before, Row::at(source.data() + i));
    const Row e = (lesser(greater(raw, Row::all(0)), Row::all(255)) - t) * Row::all(1.0F / 12.0F);
    const Row r = one / (one + e * e);
    // A clipped level only bounds the curve: it counts where the curve does not reach it.
    const Row beyond = raw - t;
    const Row silent = (one - between(t, kBlack, kAny)) * between(beyond, -kAny, 0) +
                       (one - between(t, -kAny, kWhite)) * between(beyond, 0, kAny);
    (in * (one - silent) * (r * r)).put(weights.data() + i);
  }
}

LevelSums MeasureUse(const Levels& source, const Places& inside, const Tone& tone) {
  const Eight none = Eight::all(0), top = Eight::all(255);
  Eight low = top, high = none, moved2 = none, count = none, from = none, from2 = none, to = none, to2 = none;
  for (const Places& channel : source) {
    for (std::size_t i = 0; i < kPlaces; i += 8) {
      const Eight in = Eight::at(inside.data() + i), s = Eight::at(channel.data() + i);
      const Eight t = lesser(greater(raised(tone, s), none), top), move = t - s;
      low = lesser(low, in * s + (Eight::all(1) - in) * top);
      high = greater(high, in * s);
      moved2 += in * (move * move);
      from += in * s;
      from2 += in * (s * s);
      to += in * t;
      to2 += in * (t * t);
      count += in;
    }
  }
  alignas(32) std::array<float, 8> lows, highs;
  low.put(lows.data());
  high.put(highs.data());
  return {*std::min_element(lows.begin(), lows.end()),
          *std::max_element(highs.begin(), highs.end()),
          count.total(),
          moved2.total(),
          from.total(),
          from2.total(),
          to.total(),
          to2.total()};
}

}  // namespace millrace::similarity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::similarity {
namespace {

HWY_EXPORT(CountClipped);
HWY_EXPORT(Weigh);
HWY_EXPORT(MeasureUse);

// Solves 4 x 4 equations by elimination; a ridge keeps every pivot positive.
std::array<double, 4> solve4(std::array<std::array<double, 4>, 4> h, std::array<double, 4> x) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t r = i + 1; r < 4; ++r) {
      const double f = h[r][i] / h[i][i];
      for (std::size_t c = i; c < 4; ++c) h[r][c] -= f * h[i][c];
      x[r] -= f * x[i];
    }
  }
  for (std::size_t i = 4; i-- > 0;) {
    for (std::size_t c = i + 1; c < 4; ++c) x[i] -= h[i][c] * x[c];
    x[i] /= h[i][i];
  }
  return x;
}

// Weighted sums over the pairs of levels in a bin.
struct Bin {
  double count = 0, target = 0, source = 0;
};

}  // namespace

Tone fit_tone(const Colours& colours) {
  // A clipped level has lost information that the other picture may still have, so the curve leads from the picture
  // with fewer clipped levels.
  Tone tone;
  tone.from_second = HWY_DYNAMIC_DISPATCH(CountClipped)(colours.b, colours.inside) <=
                     HWY_DYNAMIC_DISPATCH(CountClipped)(colours.a, colours.inside);
  const auto& source = tone.from_second ? colours.b : colours.a;
  const auto& target = tone.from_second ? colours.a : colours.b;
  // Pairs of levels fall into 64 bins of the source: 64 sums make the equations.
  for (int round = 0; round < 3; ++round) {
    std::array<std::array<double, 4>, 4> h{};
    std::array<double, 4> x{};
    // Bins are separate by channel, so that samples of one level do not wait for each other.
    std::array<std::array<Bin, 64>, 3> bins{};
    std::array<std::array<float, kPlaces>, 3> weights;
    for (std::size_t c = 0; c < 3; ++c)
      HWY_DYNAMIC_DISPATCH(Weigh)(source[c], target[c], colours.inside, round == 0 ? nullptr : &tone, weights[c]);
    for (std::size_t i = 0; i < kPlaces; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const float s = source[c][i], t = target[c][i], weight = weights[c][i];
        Bin& bin = bins[c][static_cast<std::size_t>(s * 0.25F)];
        bin.count += static_cast<double>(weight);
        bin.target += static_cast<double>(weight * t);
        bin.source += static_cast<double>(weight * s);
      }
    }
    double samples = 0;
    for (std::size_t k = 0; k < 64; ++k) {
      const Bin &first = bins[0][k], &second = bins[1][k], &third = bins[2][k];
      const double count = first.count + second.count + third.count;
      if (count <= 0) continue;
      const double v = (first.source + second.source + third.source) / count / 255.0;
      const double sum_t = first.target + second.target + third.target;
      const std::array<double, 4> power = {1, v, v * v, v * v * v};
      for (std::size_t p = 0; p < 4; ++p) {
        for (std::size_t q = 0; q < 4; ++q) h[p][q] += count * power[p] * power[q];
        x[p] += sum_t * power[p];
      }
      samples += count;
    }
    // Ridges towards identity in proportion to the samples: bias and gain are almost free, bends are not where few
    // levels support them.
    // docs/design/similarity.md gives the reasons for the constants of this file.
    constexpr std::array<double, 4> kHome = {0, 255, 0, 0};
    constexpr std::array<double, 4> kRidge = {2e-3, 5e-4, 5e-4, 5e-4};
    for (std::size_t p = 0; p < 4; ++p) {
      const double ridge = kRidge[p] * (samples + 1);
      h[p][p] += ridge;
      x[p] += ridge * kHome[p];
    }
    const auto c = solve4(h, x);
    for (std::size_t p = 0; p < 4; ++p) tone.c[p] = static_cast<float>(c[p]);
  }
  // A curve that falls anywhere on the levels in use is no edit of tone: identity replaces it. Distance and contrast
  // stay those of the fitted curve.
  const LevelSums use = HWY_DYNAMIC_DISPATCH(MeasureUse)(source, colours.inside, tone);
  const float n = use.count + 1e-3F;
  const float mf = use.from / n, mt = use.to / n;
  tone.distance = std::sqrt(use.moved2 / n);
  tone.contrast =
      std::sqrt((std::max(0.0F, use.to2 / n - mt * mt) + 1.0F) / (std::max(0.0F, use.from2 / n - mf * mf) + 1.0F));
  for (int k = 0; k <= 16; ++k) {
    const float v = (use.low + (use.high - use.low) * static_cast<float>(k) * (1.0F / 16.0F)) * (1.0F / 255.0F);
    if (tone.c[1] + v * (2 * tone.c[2] + v * 3 * tone.c[3]) < 0) {
      tone.c = {0, 255, 0, 0};
      break;
    }
  }
  return tone;
}

}  // namespace millrace::similarity
#endif
