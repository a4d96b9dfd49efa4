#include "src/kernels/statistics/bootstrap_steps.h"
#include "src/kernels/statistics/random.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/statistics/bootstrap_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::statistics::HWY_NAMESPACE {

using V = floats::HWY_NAMESPACE::Numbers<double, kTogether>;

void ResampleMeans(const double* values, std::size_t count, const std::uint32_t* words, std::size_t stride,
                   std::size_t replicates, double* out, std::size_t pitch) {
  const auto n = static_cast<std::uint32_t>(count);
  const V divisor = V::all(static_cast<double>(count));
  alignas(64) double means[kTogether];
  for (std::size_t b = 0; b < replicates; ++b, words += stride) {
    V sum = V::all(0);
    for (std::size_t i = 0; i < count; ++i) sum += V::at(values + below(n, words[i]) * kTogether);
    (sum / divisor).put(means);
    for (std::size_t k = 0; k < kTogether; ++k) out[k * pitch + b] = means[k];
  }
}

}  // namespace millrace::statistics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::statistics {

HWY_EXPORT(ResampleMeans);

void resample_means(const double* values, std::size_t count, const std::uint32_t* words, std::size_t stride,
                    std::size_t replicates, double* out, std::size_t pitch) {
  HWY_DYNAMIC_DISPATCH(ResampleMeans)(values, count, words, stride, replicates, out, pitch);
}

}  // namespace millrace::statistics
#endif
