#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_steps.h"
#include "src/kernels/solve.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/detailed_check/detailed_check_register.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::detailed_check::HWY_NAMESPACE {
using floats::HWY_NAMESPACE::Floats;

using Eight = Floats<8>;

// Sums in eight lanes, whatever the vector length of the machine.
void FitRow(const FitRowInput& row, float* sums) {
  Eight total[kRowSums];
  for (Eight& sum : total) sum = Eight::all(0);
  const Eight gain = Eight::all(row.gain), bias = Eight::all(row.bias), narrow = Eight::all(row.narrow);
  const Eight one = Eight::all(1), two = Eight::all(2), eighth = Eight::all(0.125F) * gain;
  alignas(32) float step[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const Eight steps = Eight::at(step);
  const float share = 1.0F / static_cast<float>(row.width);
  for (int x = row.begin; x < row.end; x += 8) {
    const Eight in = x + 8 <= row.end ? one : Eight::within(0, row.end - x);
    const float *a = row.above + x, *m = row.warped + x, *b = row.below + x;
    const Eight level = Eight::at(m);
    const Eight e = Eight::at(row.first + x) - gain * level - bias;
    const Eight right = Eight::at(a + 1) + two * Eight::at(m + 1) + Eight::at(b + 1);
    const Eight left = Eight::at(a - 1) + two * Eight::at(m - 1) + Eight::at(b - 1);
    const Eight lower = Eight::at(b - 1) + two * Eight::at(b) + Eight::at(b + 1);
    const Eight upper = Eight::at(a - 1) + two * Eight::at(a) + Eight::at(a + 1);
    const Eight gx = eighth * (right - left), gy = eighth * (lower - upper);
    const Eight root = one / (one + e * e * narrow);
    const Eight w = in * root * root;
    const Eight place = (steps + Eight::all(static_cast<float>(x))) * Eight::all(share) - Eight::all(0.5F);
    const Eight terms[6] = {gx * place, gx, gy * place, gy, level, one};
    std::size_t at = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      const Eight weighted = w * terms[p];
      for (std::size_t q = 0; q <= p; ++q) total[at++] += weighted * terms[q];
      total[at++] += weighted * e;
    }
  }
  for (std::size_t i = 0; i < kRowSums; ++i) sums[i] = total[i].total();
}

}  // namespace millrace::detailed_check::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::detailed_check {
namespace {

HWY_EXPORT(FitRow);

// Bins of the histogram: sixteenths of a level, up to 256.
constexpr std::size_t kBins = 4096;
// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr std::int64_t kMinCount = 200;  // pixels that count

float median_of(const std::vector<std::uint32_t>& histogram, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    sum += histogram[i];
    if (2 * sum >= count) return (static_cast<float>(i) + 0.5F) * (1.0F / 16);
  }
  return 0;
}

// Pixels of each row that count: those away from the edges of both.
std::vector<PixelSpan> rows_inside(const Affine& warp, const Plane& first, const Plane& second) {
  const int w = first.width(), h = first.height();
  std::vector<PixelSpan> out(static_cast<std::size_t>(h), PixelSpan{0, 0});
  for (int y = 1; y < h - 1; ++y) {
    PixelSpan in = inside_row(warp, y, w, second.width(), second.height(), -1.0);
    in.begin = std::max(in.begin, 1);
    in.end = std::max(in.begin, std::min(in.end, w - 1));
    out[static_cast<std::size_t>(y)] = in;
  }
  return out;
}

std::int64_t count_of(const std::vector<PixelSpan>& rows) {
  std::int64_t count = 0;
  for (const PixelSpan& row : rows) count += row.end - row.begin;
  return count;
}

// Estimates gain and bias by the deviations and means of both.
void first_levels(const Plane& first, const Plane& warped, const std::vector<PixelSpan>& rows, std::int64_t count,
                  Fit& out) {
  double sa = 0, sb = 0, saa = 0, sbb = 0;
  for (int y = 0; y < first.height(); ++y) {
    const PixelSpan row = rows[static_cast<std::size_t>(y)];
    const float *a = first.row(y), *b = warped.row(y);
    for (int x = row.begin; x < row.end; ++x) {
      const double va = static_cast<double>(a[x]), vb = static_cast<double>(b[x]);
      sa += va;
      sb += vb;
      saa += va * va;
      sbb += vb * vb;
    }
  }
  const double n = static_cast<double>(count), ma = sa / n, mb = sb / n;
  const double da = std::sqrt(std::max(0.0, saa / n - ma * ma)), db = std::sqrt(std::max(0.0, sbb / n - mb * mb));
  out.gain = std::clamp(da / (db + 1e-3), 0.3, 3.0);
  out.bias = ma - out.gain * mb;
}

// Returns the median size of the residuals, of every `each`-th pixel.
float residual_scale(const Plane& first, const Plane& warped, const std::vector<PixelSpan>& rows, const Fit& levels,
                     int each, std::vector<std::uint32_t>& histogram) {
  histogram.assign(kBins, 0);
  std::uint64_t count = 0;
  const auto gain = static_cast<float>(levels.gain), bias = static_cast<float>(levels.bias);
  for (int y = 0; y < first.height(); y += each) {
    const PixelSpan row = rows[static_cast<std::size_t>(y)];
    const float *a = first.row(y), *b = warped.row(y);
    for (int x = row.begin; x < row.end; x += each) {
      const float size = std::fabs(a[x] - gain * b[x] - bias) * 16;
      ++histogram[std::min(kBins - 1, static_cast<std::size_t>(size))];
      ++count;
    }
  }
  return median_of(histogram, count);
}

}  // namespace

void fit_row(const FitRowInput& row, float (&sums)[kRowSums]) { HWY_DYNAMIC_DISPATCH(FitRow)(row, sums); }

Fit register_luma(const Plane& first, const Plane& second, const Affine& start, int steps, FitScratch& scratch) {
  const int w = first.width(), h = first.height();
  Fit out;
  out.warp = start;
  Plane& warped = scratch.warped;
  warped.size(w, h);
  std::vector<PixelSpan> rows;
  for (int step = 0; step < steps; ++step) {
    warp_linear(second, out.warp, warped);
    rows = rows_inside(out.warp, first, second);
    const std::int64_t count = count_of(rows);
    if (count < kMinCount) return out;
    if (step == 0) first_levels(first, warped, rows, count, out);
    const float scale =
        std::max(3.0F, 1.5F * residual_scale(first, warped, rows, out, w > 160 ? 2 : 1, scratch.histogram));
    std::array<std::array<double, 8>, 8> equations{};
    std::array<double, 8> move{};
    for (int y = 1; y < h - 1; ++y) {
      const PixelSpan row = rows[static_cast<std::size_t>(y)];
      if (row.begin >= row.end) continue;
      float sums[kRowSums];
      fit_row({first.row(y), warped.row(y - 1), warped.row(y), warped.row(y + 1), row.begin, row.end, w,
               static_cast<float>(out.gain), static_cast<float>(out.bias), 1.0F / (scale * scale)},
              sums);
      // Unknowns: gx X, gx Y, gx, gy X, gy Y, gy, level, 1. Y is one number in a row.
      const double down = (y - 0.5 * h) / w;
      constexpr std::array<std::size_t, 8> kTerm = {0, 1, 1, 2, 3, 3, 4, 5};
      const std::array<double, 8> factor = {1, down, 1, 1, down, 1, 1, 1};
      const auto sum_of = [&](std::size_t p, std::size_t q) {
        const std::size_t high = std::max(p, q), low = std::min(p, q);
        return static_cast<double>(sums[high * (high + 1) / 2 + high + low]);
      };
      const auto residual_of = [&](std::size_t p) { return static_cast<double>(sums[p * (p + 1) / 2 + 2 * p + 1]); };
      for (std::size_t p = 0; p < 8; ++p) {
        for (std::size_t q = 0; q <= p; ++q) equations[p][q] += factor[p] * factor[q] * sum_of(kTerm[p], kTerm[q]);
        move[p] += factor[p] * residual_of(kTerm[p]);
      }
    }
    // Weak priors: little rotation, shear and change of scale, and no move where there are no slopes.
    const double n = static_cast<double>(count), turn = 0.02 * n / w, least = 1e-4 * n;
    const std::array<double, 8> prior = {turn + least, turn + least, least, turn + least,
                                         turn + least, least,        1e-6,  1e-3 * least};
    for (std::size_t p = 0; p < 8; ++p) equations[p][p] += prior[p] + 1e-6;
    if (!solve_positive(equations, move)) break;
    double longest = 0;
    for (std::size_t p = 0; p < 6; ++p) {
      move[p] = std::clamp(move[p], -8.0, 8.0);
      longest = std::max(longest, std::fabs(move[p]));
    }
    Affine by;
    const double cx = 0.5 * w, cy = 0.5 * h;
    by.m = {1 + move[0] / w, move[1] / w,     move[2] - move[0] / w * cx - move[1] / w * cy,
            move[3] / w,     1 + move[4] / w, move[5] - move[3] / w * cx - move[4] / w * cy};
    out.warp = then(by, out.warp);
    out.gain = std::clamp(out.gain + move[6], 0.2, 5.0);
    out.bias += move[7];
    if (longest < 0.01) break;
  }
  return out;
}

Misfit measure_misfit(const Plane& first, const Plane& second, const Fit& fit, FitScratch& scratch) {
  Misfit out;
  Plane& warped = scratch.warped;
  warped.size(first.width(), first.height());
  warp_linear(second, fit.warp, warped);
  const std::vector<PixelSpan> rows = rows_inside(fit.warp, first, second);
  const std::int64_t count = count_of(rows);
  if (count < kMinCount) return out;
  double size = 0, sum = 0, square = 0;
  const auto gain = static_cast<float>(fit.gain), bias = static_cast<float>(fit.bias);
  for (int y = 0; y < first.height(); ++y) {
    const PixelSpan row = rows[static_cast<std::size_t>(y)];
    const float *a = first.row(y), *b = warped.row(y);
    float line = 0;
    for (int x = row.begin; x < row.end; ++x) {
      line += std::min(40.0F, std::fabs(a[x] - gain * b[x] - bias));
      const double v = static_cast<double>(a[x]);
      sum += v;
      square += v * v;
    }
    size += static_cast<double>(line);
  }
  const double n = static_cast<double>(count), mean = sum / n;
  out.misfit = size / n / (std::sqrt(std::max(0.0, square / n - mean * mean)) + 3);
  out.overlap = n / (static_cast<double>(first.width()) * first.height());
  return out;
}

}  // namespace millrace::detailed_check
#endif
