#include <algorithm>
#include <cmath>

#include "src/kernels/similarity/similarity_steps.h"
#include "src/kernels/solve.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/similarity/similarity_register.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"
#include "src/kernels/similarity/similarity_equations.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::similarity::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;
namespace {

// Sums in eight lanes, whatever the vector length of the machine.
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
      // Samples with two neighbours; the last sixteen overlap those before.
      const int inner = std::min(x + 1, N - 17);
      ((Row::at(row + inner + 1) - Row::at(row + inner - 1)) * Row::all(0.5F * n)).put(out + inner);
    }
    out[0] = (row[1] - row[0]) * n;
    out[N - 1] = (row[N - 1] - row[N - 2]) * n;
  }
}

// Sums of products over the points of eight columns. An unknown is a slope, alone or times the position across or down.
// Positions down are carried as powers; positions across are applied at the end.
struct Sums {
  // Sums by power of the position down: slopes across and down by each other, by level, by residual and alone.
  Eight xx[3], xy[3], yy[3], xv[2], yv[2], xe[2], ye[2], x1[2], y1[2];
  Eight vv, v1, ve, e1, one;

  HWY_INLINE Sums() {
    const Eight none = Eight::all(0);
    for (std::size_t k = 0; k < 3; ++k) xx[k] = xy[k] = yy[k] = none;
    for (std::size_t k = 0; k < 2; ++k) xv[k] = yv[k] = xe[k] = ye[k] = x1[k] = y1[k] = none;
    vv = v1 = ve = e1 = one = none;
  }
  static HWY_INLINE void add(Eight (&sums)[2], const Eight& value, const Eight& ry) {
    sums[0] += value;
    sums[1] += ry * value;
  }
  static HWY_INLINE void add(Eight (&sums)[3], const Eight& value, const Eight& ry, const Eight& ry2) {
    sums[0] += value;
    sums[1] += ry * value;
    sums[2] += ry2 * value;
  }
  HWY_INLINE void add(const Eight& w, const Eight& gx, const Eight& gy, const Eight& v, const Eight& e, float down) {
    const Eight ry = Eight::all(down), ry2 = Eight::all(down * down);
    const Eight wx = w * gx, wy = w * gy, wv = w * v;
    add(xx, wx * gx, ry, ry2);
    add(xy, wx * gy, ry, ry2);
    add(yy, wy * gy, ry, ry2);
    add(xv, wx * v, ry);
    add(yv, wy * v, ry);
    add(xe, wx * e, ry);
    add(ye, wy * e, ry);
    add(x1, wx, ry);
    add(y1, wy, ry);
    vv += wv * v;
    v1 += wv;
    ve += wv * e;
    e1 += w * e;
    one += w;
  }

  // Adds the terms for these positions across.
  void put(const Eight& rx, Eight (&terms)[kTerms]) const {
    const Eight powers[3] = {Eight::all(1), rx, rx * rx};
    const Eight* slopes[3] = {xx, xy, yy};
    const Eight* residuals[2] = {xe, ye};
    std::size_t term = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      const std::size_t across = p % 3 == 1, down = p % 3 == 2;
      for (std::size_t q = 0; q <= p; ++q, ++term)
        terms[term] += powers[across + (q % 3 == 1)] * slopes[p / 3 + q / 3][down + (q % 3 == 2)];
      terms[term++] += powers[across] * residuals[p / 3][down];
    }
    const auto by_slopes = [&](const Eight(&x)[2], const Eight(&y)[2]) HWY_ATTR {
      for (const Eight* by : {x, y}) {
        terms[term++] += by[0];
        terms[term++] += rx * by[0];
        terms[term++] += by[1];
      }
    };
    by_slopes(xv, yv);
    terms[term++] += vv;
    terms[term++] += ve;
    by_slopes(x1, y1);
    terms[term++] += v1;
    terms[term++] += one;
    terms[term++] += e1;
  }
};

template <int N>
HWY_INLINE bool set_up(const float* a, const float* moved, const float* inside, const FitSettings& tried,
                       Equations& out) {
  constexpr std::size_t kPoints = static_cast<std::size_t>(N) * N;
  alignas(64) std::array<float, kPoints> across, down, error, weight;
  slopes_of<N>(moved, across.data(), down.data());
  // Scale of the residuals: their mean size where there are slopes. Over all of a flat design it would be so small that
  // every edge out of place looked like an outlier.
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
  const float covered = count.total();
  out.fit = 0;
  if (covered < 0.25F * kPoints) return false;
  const float width = tried.width * (size.total() / (steep.total() + 1.0F)) + 1.0F;
  const Eight narrow = Eight::all(1.0F / (width * width)), one = Eight::all(1.0F);

  Eight fit = none, weights = none, level = none, square = none;
  for (std::size_t i = 0; i < kPoints; i += 8) {
    const Eight e = Eight::at(error.data() + i), in = Eight::at(inside + i);
    const Eight r = one / (one + e * e * narrow);
    const Eight w = in * r * r;
    w.put(weight.data() + i);
    fit += w * e * e;
    weights += w;
    const Eight v = Eight::at(a + i) - Eight::all(128.0F);
    level += in * v;
    square += in * v * v;
  }
  out.misfit = fit.total() / (weights.total() + 1e-3F);
  const float mean = level.total() / covered;
  out.fit = 1.0F - out.misfit / (square.total() / covered - mean * mean + 4.0F);
  if (out.fit < tried.least_fit) return false;

  Eight terms[kTerms];
  for (Eight& term : terms) term = none;
  for (std::size_t x = 0; x < N; x += 8) {
    Sums sums;
    for (std::size_t y = 0; y < N; ++y) {
      const std::size_t i = y * N + x;
      // Slopes are taken after warping; the warp is near identity, so they serve for both
      // rasters.
      sums.add(Eight::at(weight.data() + i), gain * Eight::at(across.data() + i), gain * Eight::at(down.data() + i),
               Eight::at(moved + i), Eight::at(error.data() + i), kMiddlesOf<N>[y]);
    }
    sums.put(Eight::at(kMiddlesOf<N>.data() + x), terms);
  }
  for (std::size_t term = 0; term < kTerms; ++term) out.sum[term] = terms[term].total();
  return true;
}

}  // namespace

bool SetUp32(const float* a, const float* moved, const float* inside, const FitSettings& tried, Equations& out) {
  return set_up<32>(a, moved, inside, tried, out);
}
bool SetUp64(const float* a, const float* moved, const float* inside, const FitSettings& tried, Equations& out) {
  return set_up<64>(a, moved, inside, tried, out);
}

}  // namespace millrace::similarity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::similarity {
namespace {

HWY_EXPORT(SetUp32);
HWY_EXPORT(SetUp64);

template <int N>
bool set_up(const Plane<N>& a, const Plane<N>& moved, const Plane<N>& inside, const FitSettings& tried,
            Equations& out) {
  if constexpr (N == 32) {
    return HWY_DYNAMIC_DISPATCH(SetUp32)(a.data(), moved.data(), inside.data(), tried, out);
  } else {
    return HWY_DYNAMIC_DISPATCH(SetUp64)(a.data(), moved.data(), inside.data(), tried, out);
  }
}

}  // namespace

template <int N>
Registration register_luma(const Plane<N>& a, const Plane<N>& b, const Frames& frames, const Warp& start, bool inverted,
                           int steps, float least_fit) {
  Registration out{start, 0};
  Warp& warp = out.warp;
  float gain = inverted ? -1.0F : 1.0F, bias = inverted ? 255.0F : 0.0F;
  // Widths of the priors, by what edits do: shift and scale 8 %, rotation and shear 3 %, gain 0.5, bias 64.
  // docs/design/similarity.md gives the reasons for the constants of this file.
  constexpr std::array<double, 8> kWidth = {0.08, 0.08, 0.03, 0.08, 0.03, 0.08, 0.5, 64};
  const std::array<float, 8> home = {0, 1, 0, 0, 0, 1, gain, bias};
  Plane<N> moved, inside;
  Equations equations;
  for (int step = 0; step < steps; ++step) {
    resample<N>(b, frames, warp, moved, inside);
    // The first steps start far off, so every pixel counts; later ones trust the pixels that fit.
    const float width = N == 64 ? 1.0F : (step < 2 ? 3.0F : 1.5F);
    const float least = step + 1 == steps ? least_fit : kAnyFit;
    if (!set_up<N>(a, moved, inside, {gain, bias, width, least}, equations)) return Registration{start, equations.fit};
    out.fit = equations.fit;
    // Neighbouring residuals repeat each other: about one in four is independent.
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
    if (!solve_positive(h, x)) return out;
    double move = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      // A step of more than 5 % leaves the range that the slopes describe.
      const double held = std::clamp(x[p], -0.05, 0.05);
      warp.m[p] += static_cast<float>(held);
      move += std::fabs(held);
    }
    // Gain and bias are clamped to what is still a picture.
    gain = std::clamp(gain + static_cast<float>(x[6]), -8.0F, 8.0F);
    bias = std::clamp(bias + static_cast<float>(x[7]), -1024.0F, 1024.0F);
    // The first step never ends the loop: `fit` is measured before a step, so at the first one no gain is known.
    if (step > 0 && move < 8e-4) break;
  }
  return out;
}
template Registration register_luma<32>(const Plane<32>&, const Plane<32>&, const Frames&, const Warp&, bool, int,
                                        float);
template Registration register_luma<64>(const Plane<64>&, const Plane<64>&, const Frames&, const Warp&, bool, int,
                                        float);

}  // namespace millrace::similarity
#endif
