// Input: the features of samples, and the group of each.
// Output: how far groups are apart relative to their width, and how probable that is where labels mean nothing.
// Never: reports a separability that is undefined: it is absent, with a reason.
//
// Features are centred; `standardized` divides each by its deviation (ddof 1), and leaves constant ones out. Principal
// components, at most 50 and at most n - 1, come from the eigenvectors of the samples' Gram matrix. Coordinates are
// these times the root of their eigenvalue, with the sign that makes the largest one, of equals the first, positive.
// Eigenvalues below n times the rounding of the greatest are 0. Distances are Euclidean, in these coordinates.
//
// The ratio is the mean distance of two samples of different groups over that of two of one group, over all pairs. The
// silhouette is Rousseeuw's (1987), as in scikit-learn; it is 0 for a sample that is alone in its group. The p is (1 +
// shuffles whose ratio is at least the ratio, within 1e-12 of it) / (1 + shuffles). A shuffle permutes n labels: of n
// places, for i = 0 to n - 2, places i and i + below(n - i, u_i) are exchanged. The sample at place i then has the
// label of sample i. The sequence u is (separability, stream, the shuffle's number) of src/kernels/statistics/random.h.
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

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kMaxComponents = 50;

// Result for one variant of the features.
struct FeatureSpace {
  // Reason why a space has no ratio.
  //   too_few: fewer than two groups with samples, or no group with two.
  //   no_variance: samples of one group differ by rounding only, at most 1e-7 of what those of different groups do.
  //   absent: a feature, or a square of one, is not finite.
  // With a reason, all but coordinates and explained are NaN or empty; with absent, these too.
  UntestedReason reason = UntestedReason::none;
  double ratio = kNoNumber, p = kNoNumber, silhouette = kNoNumber;
  std::vector<double> silhouettes;                 // [samples]
  std::vector<std::array<double, 2>> coordinates;  // [samples]: the first two; 0 if there is only one component
  std::vector<double> explained;                   // [components]: shares of the variance, the greatest first
};

// Products of samples over their features, which come whole or slice by slice, with the same bits however they are cut.
class FeatureProducts {
 public:
  // Size of slices: the number of features of each slice but the last is a multiple of this.
  static constexpr std::size_t kSlice = 16384;

  explicit FeatureProducts(std::size_t samples);
  // Adds the next features, [samples, features], row after row without gaps. Throws Failure(usage) if they are not as
  // many for each sample, or if they follow the last slice. Throws Failure(cancelled). Holds memory() meanwhile.
  void add(std::span<const float> features, const Executor& executor);

  static std::uint64_t memory(std::size_t samples, int threads);

  std::size_t samples() const { return samples_; }
  // Products [samples, samples]: of features less their means, and of these over their deviations (ddof 1).
  std::vector<double> centred() const { return whole(centred_); }
  std::vector<double> standardized() const { return whole(standardized_); }

 private:
  std::vector<double> whole(const std::vector<double>& sums) const;

  std::size_t samples_;
  bool last_ = false;  // true after the last slice: nothing may be added
  std::vector<double> centred_, standardized_;
};

struct Separability {
  FeatureSpace published;  // features as they are
  FeatureSpace standardized;
};
// `groups` [samples] may hold any numbers. Throws Failure(usage) if there are not as many as samples, and
// Failure(cancelled).
Separability separability(const FeatureProducts& products, std::span<const std::uint32_t> groups, std::uint64_t seed,
                          std::uint32_t stream, std::uint32_t shuffles, const Executor& executor);

}  // namespace millrace::statistics
