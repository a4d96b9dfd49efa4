// Enters: features of samples, and the group of each.
// Leaves: how far apart groups lie beside how wide they are, and how probable that is where labels mean nothing.
// Never: says how separable groups are where it is not defined: it is absent, with a reason.
//
// Features are centred; `standardized` divides each by its deviation (ddof 1), constant ones are left out. Principal
// components, at most 50 and at most n - 1, come from the eigenvectors of the samples' Gram matrix; coordinates are
// these times the root of their eigenvalue, with the sign that makes the largest one, of equals the first, positive.
// Eigenvalues below n times the rounding of the greatest are 0. Distances are Euclidean, in these coordinates.
//
// ratio: mean distance of two samples of different groups over that of two of one group, over all pairs. silhouette:
// Rousseeuw (1987), as scikit-learn has it: 0 for a sample that is alone in its group. p = (1 + shuffles whose ratio is
// at least the ratio, within 1e-12 of it) / (1 + shuffles). A shuffle of n labels: of n places, for i = 0 to n - 2,
// places i and i + below(n - i, u_i) are exchanged; the sample at place i then has the label of sample i. u is the
// sequence (separability, stream, the shuffle's number) of src/kernels/statistics/random.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/device/cpu/executor.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/statistics.h"

namespace millrace::statistics {

inline constexpr std::size_t kMostComponents = 50;

// Of one variant of the features.
struct Space {
  // too_few: fewer than two groups with samples, or no group with two. no_variance: no two samples of one group differ.
  // absent: a feature, or a square of one, is not finite. With a reason, all but coordinates and explained are NaN or
  // empty; with absent, these too.
  Reason reason = Reason::none;
  double ratio = kNoNumber, p = kNoNumber, silhouette = kNoNumber;
  std::vector<double> silhouettes;                 // [samples]
  std::vector<std::array<double, 2>> coordinates;  // [samples]: the first two; 0 where there is one component only
  std::vector<double> explained;                   // [components]: shares of the variance, the greatest first
};

// Samples by features, row after row without gaps, and the group of each sample.
struct Samples {
  std::span<const float> features;        // [samples, features]
  std::span<const std::uint32_t> groups;  // [samples]; any numbers
};

struct Separability {
  Space published;  // features as they are
  Space standardized;
};
// Failure(usage) where features are not so many for each sample. Holds 8 samples^2 bytes for each 16,384 features,
// twice, and 4,096 for each sample and thread. Failure(cancelled).
Separability separability(const Samples& samples, std::uint64_t seed, std::uint32_t stream, std::uint32_t shuffles,
                          const Executor& executor);
// The same of features as they are alone.
Space separability_as_is(const Samples& samples, std::uint64_t seed, std::uint32_t stream, std::uint32_t shuffles,
                         const Executor& executor);

}  // namespace millrace::statistics
