#include <algorithm>
#include <cmath>

#include "src/kernels/statistics/separability_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/statistics/separability_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::statistics::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes = 8;
using V = floats::HWY_NAMESPACE::Numbers<double, kLanes>;

// Products of kRows by kColumns samples are summed together, as many as there are registers for.
#if MILLRACE_PORTABLE_TARGET
constexpr std::size_t kRows = 1, kColumns = 2;
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr std::size_t kRows = 4, kColumns = 4;
#else
constexpr std::size_t kRows = 2, kColumns = 2;
#endif

#if MILLRACE_PORTABLE_TARGET
inline V widened(const float* from) {
  alignas(64) double wide[kLanes];
  for (std::size_t k = 0; k < kLanes; ++k) wide[k] = from[k];
  return V::at(wide);
}
#else
HWY_INLINE V widened(const float* from) {
  const V::D d;
  const hn::Rebind<float, V::D> narrow;
  V out;
  for (std::size_t p = 0; p < V::kParts; ++p) out.part[p] = hn::PromoteTo(d, hn::LoadU(narrow, from + p * V::kEach));
  return out;
}
#endif

HWY_INLINE V FeaturesAt(const float* row, std::size_t at, std::size_t count) {
  if (at + kLanes <= count) return widened(row + at);
  alignas(64) float some[kLanes] = {};
  for (std::size_t k = 0; at + k < count; ++k) some[k] = row[at + k];
  return widened(some);
}

void Center(const float* features, std::size_t pitch, std::size_t samples, std::size_t count, double* block,
            double* inverse) {
  const V n = V::all(static_cast<double>(samples)), zero = V::all(0), one = V::all(1),
          fewer = V::all(static_cast<double>(std::max<std::size_t>(samples, 2) - 1));
  alignas(64) double variance[kLanes];
  for (std::size_t at = 0; at < kFeatures; at += kLanes) {
    V sum = zero, squares = zero;
    if (at < count)
      for (std::size_t i = 0; i < samples; ++i) sum += FeaturesAt(features + i * pitch, at, count);
    const V mean = sum / n;
    for (std::size_t i = 0; i < rows_of(samples); ++i) {
      V rest = zero;
      if (i < samples && at < count) rest = FeaturesAt(features + i * pitch, at, count) - mean;
      squares += rest * rest;
      rest.put(block + i * kFeatures + at);
    }
    (squares / fewer).put(variance);
    for (std::size_t k = 0; k < kLanes; ++k) variance[k] = std::sqrt(variance[k]);
    const V deviation = V::at(variance);
    if_at_most(deviation, zero, zero, one / deviation).put(inverse + at);
  }
}

void Scale(double* block, std::size_t samples, const double* inverse) {
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t at = 0; at < kFeatures; at += kLanes) {
      double* const to = block + i * kFeatures + at;
      (V::at(to) * V::at(inverse + at)).put(to);
    }
}

HWY_INLINE double Total(const V& v) {
  alignas(64) double lane[kLanes];
  v.put(lane);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

void AddProducts(const double* block, std::size_t samples, double* gram) {
  const std::size_t rows = rows_of(samples);
  for (std::size_t i = 0; i < rows; i += kRows) {
    for (std::size_t j = i / kColumns * kColumns; j < rows; j += kColumns) {
      const double *const a = block + i * kFeatures, *const b = block + j * kFeatures;
      V sums[kRows][kColumns];
      for (auto& row : sums)
        for (V& sum : row) sum = V::all(0);
      for (std::size_t at = 0; at < kFeatures; at += kLanes) {
        V other[kColumns];
        for (std::size_t c = 0; c < kColumns; ++c) other[c] = V::at(b + c * kFeatures + at);
        for (std::size_t r = 0; r < kRows; ++r) {
          const V own = V::at(a + r * kFeatures + at);
          for (std::size_t c = 0; c < kColumns; ++c) sums[r][c] += own * other[c];
        }
      }
      for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t c = 0; c < kColumns; ++c) gram[(i + r) * rows + j + c] += Total(sums[r][c]);
    }
  }
}

}  // namespace millrace::statistics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::statistics {

HWY_EXPORT(Center);
HWY_EXPORT(Scale);
HWY_EXPORT(AddProducts);

void center(const float* features, std::size_t pitch, std::size_t samples, std::size_t count, double* block,
            double* inverse) {
  HWY_DYNAMIC_DISPATCH(Center)(features, pitch, samples, count, block, inverse);
}

void scale(double* block, std::size_t samples, const double* inverse) {
  HWY_DYNAMIC_DISPATCH(Scale)(block, samples, inverse);
}

void add_products(const double* block, std::size_t samples, double* gram) {
  HWY_DYNAMIC_DISPATCH(AddProducts)(block, samples, gram);
}

}  // namespace millrace::statistics
#endif
