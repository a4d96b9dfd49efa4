#include <algorithm>
#include <cmath>

#include "src/kernels/alike/alike_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/alike/alike_register.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/alike/alike_equations.h"
#include "src/kernels/alike/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::alike::HWY_NAMESPACE {
namespace {

// Sums in eight lanes, whatever the vectors hold.
using Eight = Floats<8>;

// Gradients in levels per picture side.
template <int N>
HWY_INLINE void slopes_of(const float* image, float* across, float* down) {
  using Row = Floats<16>;
  constexpr auto n = static_cast<float>(N);
  for (int y = 0; y < N; ++y) {
    const int y0 = y > 0 ? y - 1 : 0, y1 = y < N - 1 ? y + 1 : N - 1;
    const float *row = image + y * N, *above = image + y0 * N, *below = image + y1 * N;
    float* out = across + y * N;
    for (int x = 0; x < N; x += 16) {
      ((Row::at(below + x) - Row::at(above + x)) * Row::all(n / static_cast<float>(y1 - y0))).put(down + y * N + x);
      // All that have two neighbours; the last sixteen overlap those before.
      const int inner = std::min(x + 1, N - 17);
      ((Row::at(row + inner + 1) - Row::at(row + inner - 1)) * Row::all(0.5F * n)).put(out + inner);
    }
    out[0] = (row[1] - row[0]) * n;
    out[N - 1] = (row[N - 1] - row[N - 2]) * n;
  }
}

// sum[term of (P, Q)] += wj[P] * j[Q] for all Q up to P, and += wj[P] * e.
template <std::size_t P, std::size_t... Q>
HWY_INLINE void add_products(Eight* sum, const Eight& wj, const Eight* j, const Eight& e, std::index_sequence<Q...>) {
  constexpr std::size_t kFirst = P * (P + 3) / 2;
  ((sum[kFirst + Q] += wj * j[Q]), ...);
  sum[kFirst + P + 1] += wj * e;
}
template <std::size_t... P>
HWY_INLINE void add_equations(Eight* sum, const Eight& w, const Eight* j, const Eight& e, std::index_sequence<P...>) {
  (add_products<P>(sum, w * j[P], j, e, std::make_index_sequence<P + 1>()), ...);
}

template <int N>
HWY_INLINE bool set_up(const float* a, const float* moved, const float* inside, const Tried& tried, Equations& out) {
  constexpr std::size_t kPoints = static_cast<std::size_t>(N) * N;
  alignas(64) std::array<float, kPoints> across, down, error;
  slopes_of<N>(moved, across.data(), down.data());
  // The scale of the residuals: their mean size where there are slopes. Over all of a flat design
  // it would be so small that every edge out of place looked like an outlier.
  const Eight none = Eight::all(0), gain = Eight::all(tried.gain), bias = Eight::all(tried.bias);
  Eight size = none, steep = none, count = none;
  for (std::size_t i = 0; i < kPoints; i += 8) {
    const Eight in = Eight::at(inside + i);
    const Eight e = gain * Eight::at(moved + i) + bias - Eight::at(a + i);
    const Eight slope = in * (size_of(Eight::at(across.data() + i)) + size_of(Eight::at(down.data() + i)));
    e.put(error.data() + i);
    size += slope * size_of(e);
    steep += slope;
    count += in;
  }
  out.covered = count.total();
  if (out.covered < 0.25F * kPoints) return false;
  const float width = tried.width * (size.total() / (steep.total() + 1.0F)) + 1.0F;
  const Eight narrow = Eight::all(1.0F / (width * width)), one = Eight::all(1.0F);

  Eight sum[kTerms];
  for (Eight& term : sum) term = none;
  Eight fit = none, weights = none, level = none, square = none;
  for (std::size_t i = 0; i < kPoints; i += 8) {
    const Eight rx = Eight::at(kMiddlesOf<N>.data() + i % N), ry = Eight::all(kMiddlesOf<N>[i / N]);
    // Slopes are taken after warping; the warp is near identity, so they serve for both
    // rasters.
    const Eight gx = gain * Eight::at(across.data() + i), gy = gain * Eight::at(down.data() + i);
    const Eight j[kUnknowns] = {gx, gx * rx, gx * ry, gy, gy * rx, gy * ry, Eight::at(moved + i), one};
    const Eight e = Eight::at(error.data() + i), in = Eight::at(inside + i);
    const Eight r = one / (one + e * e * narrow);
    const Eight w = in * r * r;
    fit += w * e * e;
    weights += w;
    const Eight v = Eight::at(a + i) - Eight::all(128.0F);
    level += in * v;
    square += in * v * v;
    add_equations(sum, w, j, e, std::make_index_sequence<kUnknowns>());
  }
  for (std::size_t term = 0; term < kTerms; ++term) out.sum[term] = sum[term].total();
  out.misfit = fit.total() / (weights.total() + 1e-3F);
  const float mean = level.total() / out.covered;
  out.variance = square.total() / out.covered - mean * mean;
  return true;
}

}  // namespace

bool SetUp32(const float* a, const float* moved, const float* inside, const Tried& tried, Equations& out) {
  return set_up<32>(a, moved, inside, tried, out);
}
bool SetUp64(const float* a, const float* moved, const float* inside, const Tried& tried, Equations& out) {
  return set_up<64>(a, moved, inside, tried, out);
}

}  // namespace millrace::alike::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::alike {
namespace {

HWY_EXPORT(SetUp32);
HWY_EXPORT(SetUp64);

template <int N>
bool set_up(const Plane<N>& a, const Plane<N>& moved, const Plane<N>& inside, const Tried& tried, Equations& out) {
  if constexpr (N == 32) {
    return HWY_DYNAMIC_DISPATCH(SetUp32)(a.data(), moved.data(), inside.data(), tried, out);
  } else {
    return HWY_DYNAMIC_DISPATCH(SetUp64)(a.data(), moved.data(), inside.data(), tried, out);
  }
}

// Solves the symmetric system in place by Cholesky's method; false when it is not positive.
bool solve(std::array<std::array<double, kUnknowns>, kUnknowns>& h, std::array<double, kUnknowns>& x) {
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = h[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= h[i][k] * h[j][k];
      if (i == j) {
        if (!(sum > 0)) return false;
        h[i][i] = std::sqrt(sum);
      } else {
        h[i][j] = sum / h[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= h[i][k] * x[k];
    x[i] /= h[i][i];
  }
  for (std::size_t i = kUnknowns; i-- > 0;) {
    for (std::size_t k = i + 1; k < kUnknowns; ++k) x[i] -= h[k][i] * x[k];
    x[i] /= h[i][i];
  }
  return true;
}

}  // namespace

template <int N>
Registered register_luma(const Plane<N>& a, const Plane<N>& b, const Frames& frames, const Warp& start, bool inverted,
                         int steps) {
  Registered out{start, 0};
  Warp& warp = out.warp;
  float gain = inverted ? -1.0F : 1.0F, bias = inverted ? 255.0F : 0.0F;
  // Widths of the priors: what edits do. Shift and scale 8 %, turn and shear 3 %, gain 0.5,
  // bias 64.
  constexpr std::array<double, 8> kWidth = {0.08, 0.08, 0.03, 0.08, 0.03, 0.08, 0.5, 64};
  const std::array<float, 8> home = {0, 1, 0, 0, 0, 1, gain, bias};
  Plane<N> moved, inside;
  Equations equations;
  for (int step = 0; step < steps; ++step) {
    resample<N>(b, frames, warp, moved, inside);
    // The first steps start far off, so everything may speak; later ones trust what fits.
    const float width = N == 64 ? 1.0F : (step < 2 ? 3.0F : 1.5F);
    if (!set_up<N>(a, moved, inside, {gain, bias, width}, equations)) return Registered{start, 0};
    out.fit = 1.0F - equations.misfit / (equations.variance + 4.0F);
    // Neighbouring residuals repeat each other: about one in four is news.
    const double noise = 4.0 * (static_cast<double>(equations.misfit) + 1.0);
    std::array<std::array<double, kUnknowns>, kUnknowns> h{};
    std::array<double, kUnknowns> x{};
    const std::array<float, 8> now = {warp.m[0], warp.m[1], warp.m[2], warp.m[3], warp.m[4], warp.m[5], gain, bias};
    std::size_t term = 0;
    for (std::size_t p = 0; p < kUnknowns; ++p) {
      for (std::size_t q = 0; q <= p; ++q, ++term) h[p][q] = static_cast<double>(equations.sum[term]);
      const double prior = noise / (kWidth[p] * kWidth[p]);
      h[p][p] += prior;
      x[p] = -static_cast<double>(equations.sum[term]) -
             prior * (static_cast<double>(now[p]) - static_cast<double>(home[p]));
      ++term;
    }
    if (!solve(h, x)) return out;
    double move = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      // A step of more than 5 % is a leap into what the slopes do not describe.
      const double held = std::clamp(x[p], -0.05, 0.05);
      warp.m[p] += static_cast<float>(held);
      move += std::fabs(held);
    }
    // Held to what is still a picture.
    gain = std::clamp(gain + static_cast<float>(x[6]), -8.0F, 8.0F);
    bias = std::clamp(bias + static_cast<float>(x[7]), -1024.0F, 1024.0F);
    // Never after the first step: `fit` is measured before a step, so the first one knows no gain.
    if (step > 0 && move < 8e-4) break;
  }
  return out;
}
template Registered register_luma<32>(const Plane<32>&, const Plane<32>&, const Frames&, const Warp&, bool, int);
template Registered register_luma<64>(const Plane<64>&, const Plane<64>&, const Frames&, const Warp&, bool, int);

}  // namespace millrace::alike
#endif
