#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_steps.h"
#include "src/kernels/solve.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/detailed_check/detailed_check_sharpness.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

#ifndef MILLRACE_CLOSELOOK_SHARPNESS_CC_
#define MILLRACE_CLOSELOOK_SHARPNESS_CC_
namespace millrace::detailed_check {

inline constexpr std::size_t kFilterSums = 20;
// A row of the target, and the same row of the picture unblurred and with three blurs.
struct FilterRow {
  std::array<const float*, 4> basis;
  const float *target, *valid;
  int width;
  std::array<float, 5> weights;
};

}  // namespace millrace::detailed_check
#endif

HWY_BEFORE_NAMESPACE();
namespace millrace::detailed_check::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Eight = Floats<8>;

HWY_INLINE Eight filtered(const FilterRow& row, int x) {
  return Eight::all(row.weights[0]) * Eight::at(row.basis[0] + x) +
         Eight::all(row.weights[1]) * Eight::at(row.basis[1] + x) +
         (Eight::all(row.weights[2]) * Eight::at(row.basis[2] + x) +
          Eight::all(row.weights[3]) * Eight::at(row.basis[3] + x)) +
         Eight::all(row.weights[4]);
}

// Applies the weights to a row. Beside a stroke the result exceeds black and white, the limits of a picture, so it is
// clamped.
void Filter(const FilterRow& row, float* out) {
  for (int x = 0; x < row.width; x += 8) lesser(greater(filtered(row, x), Eight::all(0)), Eight::all(255)).put(out + x);
}

// Writes the sizes of the residuals, in sixteenths of a level: whole numbers up to `most`.
void Sizes(const FilterRow& row, float most, std::int32_t* out) {
  for (int x = 0; x < row.width; x += 8)
    whole(lesser(size_of(Eight::at(row.target + x) - filtered(row, x)) * Eight::all(16), Eight::all(most)))
        .put(out + x);
}

// Sums the products of {basis, 1} with each other and with the target, weighted by the fit of the weights there.
// `narrow` 0 weighs all pixels alike.
void AddFilterSums(const FilterRow& row, float narrow, float* sums) {
  Eight total[kFilterSums];
  for (Eight& sum : total) sum = Eight::all(0);
  const Eight one = Eight::all(1), near = Eight::all(narrow);
  for (int x = 0; x < row.width; x += 8) {
    const Eight in =
        x + 8 <= row.width ? Eight::at(row.valid + x) : Eight::at(row.valid + x) * Eight::within(0, row.width - x);
    const Eight e = Eight::at(row.target + x) - filtered(row, x);
    const Eight root = one / (one + e * e * near);
    const Eight w = in * root * root, target = Eight::at(row.target + x);
    const Eight terms[5] = {Eight::at(row.basis[0] + x), Eight::at(row.basis[1] + x), Eight::at(row.basis[2] + x),
                            Eight::at(row.basis[3] + x), one};
    std::size_t at = 0;
    for (std::size_t p = 0; p < 5; ++p) {
      const Eight weighted = w * terms[p];
      for (std::size_t q = 0; q <= p; ++q) total[at++] += weighted * terms[q];
      total[at++] += weighted * target;
    }
  }
  for (std::size_t i = 0; i < kFilterSums; ++i) sums[i] = total[i].total();
}

}  // namespace millrace::detailed_check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::detailed_check {
namespace {

HWY_EXPORT(Filter);
HWY_EXPORT(Sizes);
HWY_EXPORT(AddFilterSums);

// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr int kEach = 3;  // neighbouring rows repeat each other

FilterRow row_of(const Plane& picture, const std::array<Plane, 3>& soft, const Plane& target, const Plane& valid, int y,
                 const std::array<double, 5>& weights) {
  FilterRow out{{picture.row(y), soft[0].row(y), soft[1].row(y), soft[2].row(y)},
                target.row(y),
                valid.row(y),
                picture.width(),
                {}};
  for (std::size_t i = 0; i < 5; ++i) out.weights[i] = static_cast<float>(weights[i]);
  return out;
}

// Robust least squares with a ridge towards the filter that does nothing.
std::array<double, 5> fit_filter(const Plane& picture, const std::array<Plane, 3>& soft, const Plane& target,
                                 const Plane& valid, SharpScratch& scratch) {
  std::array<double, 5> weights = {1, 0, 0, 0, 0};
  float narrow = 0;
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(picture.width()) + 16);
  double count = 0;
  for (int y = 0; y < picture.height(); y += kEach)
    count += static_cast<double>(std::count(valid.row(y), valid.row(y) + picture.width(), 1.0F));
  for (int round = 0; round < 4; ++round) {
    std::array<std::array<double, 5>, 5> h{};
    std::array<double, 5> b{};
    for (int y = 0; y < picture.height(); y += kEach) {
      float sums[kFilterSums];
      HWY_DYNAMIC_DISPATCH(AddFilterSums)(row_of(picture, soft, target, valid, y, weights), narrow, sums);
      std::size_t at = 0;
      for (std::size_t p = 0; p < 5; ++p) {
        for (std::size_t q = 0; q <= p; ++q) h[p][q] += static_cast<double>(sums[at++]);
        b[p] += static_cast<double>(sums[at++]);
      }
    }
    const double ridge = 0.02 * count;
    for (std::size_t p = 0; p < 4; ++p) h[p][p] += ridge;
    b[0] += ridge;
    h[4][4] += 1e-6;
    if (!solve_positive(h, b)) return {1, 0, 0, 0, 0};
    weights = b;
    if (round == 3) break;
    constexpr std::size_t kBins = 2048;  // in sixteenths of a level
    scratch.histogram.assign(kBins, 0);
    std::uint64_t seen = 0;
    for (int y = 0; y < picture.height(); y += kEach) {
      const FilterRow row = row_of(picture, soft, target, valid, y, weights);
      HWY_DYNAMIC_DISPATCH(Sizes)(row, kBins - 1, sizes.data());
      for (int x = 0; x < row.width; ++x) {
        if (row.valid[x] == 0) continue;
        ++scratch.histogram[static_cast<std::size_t>(sizes[static_cast<std::size_t>(x)])];
        ++seen;
      }
    }
    std::uint64_t sum = 0;
    std::size_t bin = 0;
    while (bin + 1 < kBins && 2 * (sum += scratch.histogram[bin]) < seen) ++bin;
    const float scale = std::max(2.0F, 1.5F * (static_cast<float>(bin) + 0.5F) * (1.0F / 16));
    narrow = 1.0F / (scale * scale);
  }
  return weights;
}

void filter(const Plane& picture, const std::array<Plane, 3>& soft, const std::array<double, 5>& weights, Plane& out) {
  out.size(picture.width(), picture.height());
  for (int y = 0; y < picture.height(); ++y)
    HWY_DYNAMIC_DISPATCH(Filter)(row_of(picture, soft, picture, picture, y, weights), out.row(y));
}

double error_of(const Plane& target, const Plane& fitted, const Plane& valid) {
  double sum = 0, count = 0;
  for (int y = 0; y < target.height(); ++y) {
    const float *t = target.row(y), *f = fitted.row(y), *in = valid.row(y);
    float line = 0, seen = 0;
    for (int x = 0; x < target.width(); ++x) {
      const float size = std::min(30.0F, std::fabs(t[x] - f[x]));
      line += in[x] * size * size;
      seen += in[x];
    }
    sum += static_cast<double>(line);
    count += static_cast<double>(seen);
  }
  return std::sqrt(sum / std::max(1.0, count));
}

void copy(const Plane& from, Plane& to) {
  to.size(from.width(), from.height());
  for (int y = 0; y < from.height(); ++y) std::copy_n(from.row(y), from.width(), to.row(y));
}

// Computes the residual of the fit.
void subtract(const Plane& valid, Sharpness& out) {
  out.residual.size(valid.width(), valid.height());
  for (int y = 0; y < valid.height(); ++y) {
    const float *a = out.fitted.row(y), *b = out.other.row(y), *in = valid.row(y);
    float* const r = out.residual.row(y);
    for (int x = 0; x < valid.width(); ++x) r[x] = in[x] * (b[x] - a[x]);
  }
}

}  // namespace

double Sharpness::deviation() const {
  return std::fabs(weights[0] - 1) + std::fabs(weights[1]) + std::fabs(weights[2]) + std::fabs(weights[3]);
}

void fit_sharpness(const Plane& first, const Plane& second, const Plane& valid, SharpScratch& scratch, Sharpness& out) {
  constexpr std::array<double, 3> kSigmas = {0.8, 1.6, 3.2};
  for (std::size_t i = 0; i < kSigmas.size(); ++i) {
    blur(first, kSigmas[i], scratch.soft_first[i]);
    blur(second, kSigmas[i], scratch.soft_second[i]);
  }
  const auto forth = fit_filter(first, scratch.soft_first, second, valid, scratch);
  const auto back = fit_filter(second, scratch.soft_second, first, valid, scratch);
  filter(first, scratch.soft_first, forth, out.fitted);
  filter(second, scratch.soft_second, back, scratch.guess);
  const double error_forth = error_of(second, out.fitted, valid), error_back = error_of(first, scratch.guess, valid);
  const bool forwards = error_forth <= error_back;
  out.weights = forwards ? forth : back;
  out.forwards = forwards;
  if (forwards) {
    copy(second, out.other);
  } else {
    copy(first, out.fitted);
    copy(scratch.guess, out.other);
  }
  subtract(valid, out);
}

void subtract_without_filter(const Plane& first, const Plane& second, const Plane& valid, Sharpness& out) {
  out.weights = {1, 0, 0, 0, 0};
  out.forwards = true;
  copy(first, out.fitted);
  copy(second, out.other);
  subtract(valid, out);
}

}  // namespace millrace::detailed_check
#endif
