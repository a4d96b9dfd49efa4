#include <algorithm>
#include <utility>

#include "src/kernels/latents/latents_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/latents/latents_spectrum.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/latents/transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::latents::HWY_NAMESPACE {

void AddSpectrum(const SpectrumPlan& plan, const float* plane, float* scratch, float* power) {
  const auto height = static_cast<std::size_t>(plan.height), width = static_cast<std::size_t>(plan.width);
  const std::size_t bins = plan.rows.bins, column = height * kLanes, row = width * kLanes;
  float* const terms = scratch;
  float* const re = terms + 4 * kRowTile * plan.rows.most_terms * kLanes;
  float* const im = re + bins * column;
  float* const columns = im + bins * column;
  std::size_t y = 0;
  for (; y + kRowTile <= height; y += kRowTile)
    TransformRows<float, kRowTile>(plan.rows, plane + y * row, row, terms, re + y * kLanes, im + y * kLanes, column);
  for (; y < height; ++y)
    TransformRows<float, 1>(plan.rows, plane + y * row, row, terms, re + y * kLanes, im + y * kLanes, column);
  for (std::size_t k = 0; k < bins; ++k) {
    float* r = re + k * column;
    float* i = im + k * column;
    float* other_r = columns;
    float* other_i = columns + column;
    TransformColumn<float>(plan.columns, r, i, other_r, other_i, columns + 2 * column);
    float* const sums = power + k * column;
    for (std::size_t at = 0; at < column; at += kLanes) {
      const Lanes a = Lanes::at(r + at), b = Lanes::at(i + at);
      multiply_add(a, a, multiply_add(b, b, Lanes::at(sums + at))).put(sums + at);
    }
  }
}

void ImageSpectrum(const SpectrumPlan& plan, const double* image, double* scratch, double* power) {
  constexpr std::size_t kEach = kLanes / 2;
  const auto height = static_cast<std::size_t>(plan.height), width = static_cast<std::size_t>(plan.width);
  const std::size_t bins = plan.image_rows.bins, column = height * kEach, groups = (bins + kEach - 1) / kEach;
  double* const lines = scratch;  // eight rows, side by side
  double* const terms = lines + width * kEach;
  double* const row_re = terms + 4 * plan.image_rows.most_terms * kEach;
  double* const row_im = row_re + bins * kEach;
  double* const columns = row_im + bins * kEach;
  double* const re = columns + 4 * column;  // [groups][height][8 bins]
  double* const im = re + groups * column;
  std::fill(re, im + groups * column, 0.0);
  for (std::size_t y = 0; y < height; y += kEach) {
    const std::size_t rows = std::min(kEach, height - y);
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t r = 0; r < kEach; ++r) lines[x * kEach + r] = r < rows ? image[(y + r) * width + x] : 0.0;
    TransformRows<double, 1>(plan.image_rows, lines, 0, terms, row_re, row_im, kEach);
    for (std::size_t k = 0; k < bins; ++k) {
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t to = (k / kEach) * column + (y + r) * kEach + k % kEach;
        re[to] = row_re[k * kEach + r];
        im[to] = row_im[k * kEach + r];
      }
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    double* r = re + g * column;
    double* i = im + g * column;
    double* other_r = columns;
    double* other_i = columns + column;
    TransformColumn<double>(plan.image_columns, r, i, other_r, other_i, columns + 2 * column);
    for (std::size_t k = g * kEach; k < std::min(bins, (g + 1) * kEach); ++k) {
      for (std::size_t y = 0; y < height; ++y) {
        const double a = r[y * kEach + k % kEach], b = i[y * kEach + k % kEach];
        power[k * height + y] = a * a + b * b;
      }
    }
  }
}

}  // namespace millrace::latents::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::latents {

HWY_EXPORT(AddSpectrum);
HWY_EXPORT(ImageSpectrum);

void add_spectrum(const SpectrumPlan& plan, const float* plane, float* scratch, float* power) {
  HWY_DYNAMIC_DISPATCH(AddSpectrum)(plan, plane, scratch, power);
}

void total_power(const SpectrumPlan& plan, const float* power, double* out) {
  for (std::size_t bin = 0; bin < plan.rings.size(); ++bin) {
    if (plan.rings[bin] == 0) continue;
    double sum = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += power[bin * kLanes + lane];
    out[bin] = sum;
  }
}

void image_spectrum(const SpectrumPlan& plan, const double* image, double* scratch, double* power) {
  HWY_DYNAMIC_DISPATCH(ImageSpectrum)(plan, image, scratch, power);
}

}  // namespace millrace::latents
#endif
