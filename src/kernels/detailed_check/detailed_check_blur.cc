#include <algorithm>
#include <array>

#include "src/kernels/detailed_check/detailed_check_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/detailed_check/detailed_check_blur.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

#ifndef MILLRACE_DETAILED_CHECK_BLUR_CC_
#define MILLRACE_DETAILED_CHECK_BLUR_CC_
namespace millrace::detailed_check {

// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr int kMaxReach = 16;
struct Taps {
  int reach = 0;
  std::array<float, kMaxReach + 1> weight{};
};

}  // namespace millrace::detailed_check
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::detailed_check::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Lot = Floats<16>;

// Blurs both ways at once: each row is blurred vertically, mirrored at its ends, and then blurred horizontally.
void Blur(const Plane& from, const Taps& taps, float* line, Plane& to) {
  const int w = from.width(), h = from.height(), reach = taps.reach;
  const auto mirrored = [&](int at, int size) {
    while (at < 0 || at >= size) at = at < 0 ? -1 - at : 2 * size - 1 - at;
    return at;
  };
  std::array<const float*, kMaxReach + 1> up, down;
  up.fill(from.row(0));
  down.fill(from.row(0));
  float* const middle = line + kMaxReach;
  for (int y = 0; y < h; ++y) {
    for (int k = 0; k <= reach; ++k) {
      up[static_cast<std::size_t>(k)] = from.row(mirrored(y - k, h));
      down[static_cast<std::size_t>(k)] = from.row(mirrored(y + k, h));
    }
    for (int x = 0; x < w; x += 16) {
      Lot sum = Lot::all(taps.weight[0]) * Lot::at(up[0] + x);
      for (std::size_t k = 1; k <= static_cast<std::size_t>(reach); ++k)
        sum += Lot::all(taps.weight[k]) * (Lot::at(up[k] + x) + Lot::at(down[k] + x));
      sum.put(middle + x);
    }
    for (int k = 0; k < reach; ++k) {
      middle[-1 - k] = middle[mirrored(-1 - k, w)];
      middle[w + k] = middle[mirrored(w + k, w)];
    }
    float* const out = to.row(y);
    for (int x = 0; x < w; x += 16) {
      Lot sum = Lot::all(taps.weight[0]) * Lot::at(middle + x);
      for (int k = 1; k <= reach; ++k)
        sum += Lot::all(taps.weight[static_cast<std::size_t>(k)]) * (Lot::at(middle + x - k) + Lot::at(middle + x + k));
      sum.put(out + x);
    }
  }
}

}  // namespace millrace::detailed_check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::detailed_check {
namespace {

HWY_EXPORT(Blur);

// Returns e to the power of x, for x in [-20, 0], without a library function: the same bits everywhere.
double power_of_e(double x) {
  x *= 1.0 / 1024;
  double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) sum += term *= x / k;
  for (int k = 0; k < 10; ++k) sum *= sum;
  return sum;
}

Taps taps_of(double sigma) {
  Taps out;
  out.reach = std::min(kMaxReach, static_cast<int>(3 * sigma + 0.999));
  std::array<double, kMaxReach + 1> weight{};
  double sum = 0;
  for (int k = 0; k <= out.reach; ++k) {
    weight[static_cast<std::size_t>(k)] = power_of_e(-0.5 * k * k / (sigma * sigma));
    sum += weight[static_cast<std::size_t>(k)] * (k == 0 ? 1 : 2);
  }
  for (std::size_t k = 0; k < weight.size(); ++k) out.weight[k] = static_cast<float>(weight[k] / sum);
  return out;
}

}  // namespace

void blur(const Plane& from, double sigma, Plane& to) {
  to.size(from.width(), from.height());
  std::vector<float> line(static_cast<std::size_t>(from.width()) + 2 * kMaxReach + 32);
  HWY_DYNAMIC_DISPATCH(Blur)(from, taps_of(sigma), line.data(), to);
}

void blur_reference(const Plane& from, double sigma, Plane& to) {
  const Taps taps = taps_of(sigma);
  const int w = from.width(), h = from.height();
  const auto mirrored = [](int at, int size) {
    while (at < 0 || at >= size) at = at < 0 ? -1 - at : 2 * size - 1 - at;
    return at;
  };
  Plane half;
  half.size(w, h);
  to.size(w, h);
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      float sum = taps.weight[0] * from.row(y)[x];
      for (int k = 1; k <= taps.reach; ++k) {
        sum += taps.weight[static_cast<std::size_t>(k)] *
               (from.row(mirrored(y - k, h))[x] + from.row(mirrored(y + k, h))[x]);
      }
      half.row(y)[x] = sum;
    }
  }
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      const float* row = half.row(y);
      float sum = taps.weight[0] * row[x];
      for (int k = 1; k <= taps.reach; ++k)
        sum += taps.weight[static_cast<std::size_t>(k)] * (row[mirrored(x - k, w)] + row[mirrored(x + k, w)]);
      to.row(y)[x] = sum;
    }
  }
}

}  // namespace millrace::detailed_check
#endif
