// Enters: features of all samples, as many features at a time as there is memory for.
// Leaves: 4,096 sums of the standardized features with random signs, which keep distances between samples to within a
//   few per cent.
// Never: has all features, or all signs, in memory.
//
// Source: Achlioptas, Database-friendly random projections (2003). The sign of feature f in component c is + where bit
// c mod 32 of number c / 32 of the sequence (projection, 0, f) of src/kernels/statistics/random.h is 0, - where it is
// 1; a component is the sum over features, in their order, of sign x value, over sqrt(4,096).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/device/cpu/executor.h"

namespace millrace::statistics {

inline constexpr std::size_t kProjected = 4096;

// Standardizes features first_feature, first_feature + 1... of samples [samples, features] as
// src/kernels/statistics/separability.h does, and adds them to `sums` [samples, kProjected], which begin with 0. Parts
// of the features are given in their order; then any split of them gives the same bits. Holds 4 KiB a sample, and 256
// KiB. Failure(usage) where sizes do not fit together.
void add_projected(std::span<const float> features, std::size_t samples, std::uint32_t first_feature,
                   std::uint64_t seed, std::span<double> sums, const Executor& executor);

// sums / sqrt(4,096), rounded to float32: what separability_as_is() takes. Of sizes that are the same.
void finish_projected(std::span<const double> sums, std::span<float> features);

}  // namespace millrace::statistics
