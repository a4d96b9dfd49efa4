#include "src/kernels/statistics/projection_steps.h"

// clang-format off
#include "src/kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/statistics/projection_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "src/kernels/floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace millrace::statistics::HWY_NAMESPACE {

void AddSigned(const double* values, std::size_t pitch, std::size_t samples, std::size_t count, const double* signs,
               double* sums, std::size_t sums_pitch) {
  constexpr std::size_t kLanes = 8, kVectors = kSummed / kLanes;
  using V = floats::HWY_NAMESPACE::Numbers<double, kLanes>;
  for (std::size_t i = 0; i < samples; ++i, values += pitch, sums += sums_pitch) {
    // All at once: fewer sums would wait for each other.
    V sum[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] = V::at(sums + v * kLanes);
    for (std::size_t f = 0; f < count; ++f) {
      const V value = V::all(values[f]);
      for (std::size_t v = 0; v < kVectors; ++v) sum[v] += value * V::at(signs + f * kSummed + v * kLanes);
    }
    for (std::size_t v = 0; v < kVectors; ++v) sum[v].put(sums + v * kLanes);
  }
}

}  // namespace millrace::statistics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace millrace::statistics {

HWY_EXPORT(AddSigned);

void add_signed(const double* values, std::size_t pitch, std::size_t samples, std::size_t count, const double* signs,
                double* sums, std::size_t sums_pitch) {
  HWY_DYNAMIC_DISPATCH(AddSigned)(values, pitch, samples, count, signs, sums, sums_pitch);
}

}  // namespace millrace::statistics
#endif
