#include "src/kernels/statistics/separability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/base/error.h"
#include "src/kernels/statistics/random.h"
#include "src/kernels/statistics/separability_steps.h"
#include "src/kernels/symmetric_eigen.h"

namespace millrace::statistics {
namespace {

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr double kRatioMargin = 1e-12;
// Largest distance within groups, as a share of one between groups, that counts as rounding.
constexpr double kNothing = 1e-7;

// Samples of each group, by their places, and the numbers of pairs within groups and across them.
struct Labels {
  std::vector<std::vector<std::uint32_t>> places;
  std::size_t within = 0, across = 0;  // numbers of pairs

  explicit Labels(std::span<const std::uint32_t> groups) {
    std::vector<std::uint32_t> named(groups.begin(), groups.end());
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    places.resize(named.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto at = std::lower_bound(named.begin(), named.end(), groups[i]) - named.begin();
      places[static_cast<std::size_t>(at)].push_back(static_cast<std::uint32_t>(i));
    }
    for (const auto& group : places) within += group.size() * (group.size() - 1) / 2;
    if (!groups.empty()) across = groups.size() * (groups.size() - 1) / 2 - within;
  }
};

// Principal components of a Gram matrix: coordinates [samples, components].
struct Components {
  std::size_t count = 0;
  std::vector<double> coordinates, explained;
};
Components components_of(std::vector<double> gram, std::size_t n) {
  Components out;
  out.count = std::min(kMaxComponents, n - 1);
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += gram[i * n + i];
  const Eigen eigen = eigenvectors(std::move(gram), n, out.count);
  const double rounding =
      out.count > 0 ? static_cast<double>(n) * std::numeric_limits<double>::epsilon() * eigen.values[0] : 0;
  out.coordinates.resize(n * out.count);
  for (std::size_t k = 0; k < out.count; ++k) {
    const double value = eigen.values[k] > rounding ? eigen.values[k] : 0, root = std::sqrt(value);
    for (std::size_t i = 0; i < n; ++i) out.coordinates[i * out.count + k] = root * eigen.vectors[k * n + i];
    out.explained.push_back(trace > 0 ? value / trace : 0);
  }
  return out;
}

std::vector<double> distances_of(const Components& components, std::size_t n) {
  std::vector<double> out(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double squares = 0;
      for (std::size_t k = 0; k < components.count; ++k) {
        const double apart =
            components.coordinates[i * components.count + k] - components.coordinates[j * components.count + k];
        squares += apart * apart;
      }
      out[i * n + j] = out[j * n + i] = std::sqrt(squares);
    }
  }
  return out;
}

// Returns the sum of distances within groups, where the sample at place i is `sample[i]`.
double sum_within(const std::vector<double>& distances, std::size_t n, const Labels& labels,
                  const std::vector<std::uint32_t>& sample) {
  double sum = 0;
  for (const auto& group : labels.places) {
    for (std::size_t i = 1; i < group.size(); ++i) {
      const double* const row = distances.data() + sample[group[i]] * n;
      // Two sums are used: a single one would wait for each of its additions.
      double even = 0, odd = 0;
      std::size_t j = 0;
      for (; j + 1 < i; j += 2) {
        even += row[sample[group[j]]];
        odd += row[sample[group[j + 1]]];
      }
      if (j < i) even += row[sample[group[j]]];
      sum += even + odd;
    }
  }
  return sum;
}

double ratio_of(double within, double all, const Labels& labels) {
  return ((all - within) / static_cast<double>(labels.across)) / (within / static_cast<double>(labels.within));
}

void silhouettes_of(const std::vector<double>& distances, std::size_t n, const Labels& labels, FeatureSpace& out) {
  out.silhouettes.assign(n, 0);
  for (const auto& own : labels.places) {
    if (own.size() < 2) continue;
    for (const std::uint32_t i : own) {
      double within = 0, nearest = std::numeric_limits<double>::infinity();
      for (const auto& group : labels.places) {
        double sum = 0;
        for (const std::uint32_t j : group) sum += distances[i * n + j];
        if (&group == &own) {
          within = sum / static_cast<double>(own.size() - 1);
        } else {
          nearest = std::min(nearest, sum / static_cast<double>(group.size()));
        }
      }
      const double greater = std::max(within, nearest);
      if (greater > 0) out.silhouettes[i] = (nearest - within) / greater;
    }
  }
  double sum = 0;
  for (const double value : out.silhouettes) sum += value;
  out.silhouette = sum / static_cast<double>(n);
}

// Space whose p is not computed yet.
struct Open {
  FeatureSpace* space;
  std::vector<double> distances;
  double all = 0;  // the sum of all distances
  std::size_t reached = 0;
};

// Computes the components of a space, or the reason why there is no ratio. Returns the distances, from which the rest
// follows.
std::vector<double> measure(std::vector<double> gram, std::size_t n, const Labels& labels, FeatureSpace& out) {
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(gram[i * n + i])) continue;
    out.reason = UntestedReason::absent;
    return {};
  }
  const Components components = components_of(std::move(gram), n);
  out.explained = components.explained;
  out.coordinates.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < std::min<std::size_t>(2, components.count); ++k)
      out.coordinates[i][k] = components.coordinates[i * components.count + k];
  if (labels.within == 0 || labels.across == 0) {
    out.reason = UntestedReason::too_few;
    return {};
  }
  return distances_of(components, n);
}

void find_p(std::vector<Open>& open, std::size_t n, const Labels& labels, std::uint64_t seed, std::uint32_t stream,
            std::uint32_t shuffles, const Executor& executor) {
  if (open.empty()) return;
  std::vector<std::uint8_t> reached(open.size() * shuffles);
  for_all(executor, shuffles, 256, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> sample(n);
    for (std::size_t s = begin; s < end; ++s) {
      RandomStream draws(seed, Purpose::separability, stream, static_cast<std::uint32_t>(s));
      std::iota(sample.begin(), sample.end(), 0U);
      for (std::size_t i = 0; i + 1 < n; ++i)
        std::swap(sample[i], sample[i + below(static_cast<std::uint32_t>(n - i), draws.next())]);
      for (std::size_t k = 0; k < open.size(); ++k) {
        const double within = sum_within(open[k].distances, n, labels, sample);
        reached[k * shuffles + s] = ratio_of(within, open[k].all, labels) >= open[k].space->ratio * (1 - kRatioMargin);
      }
    }
  });
  for (std::size_t k = 0; k < open.size(); ++k) {
    const auto from = reached.begin() + static_cast<std::ptrdiff_t>(k * shuffles);
    const auto count = std::count(from, from + shuffles, 1);
    open[k].space->p = (1 + static_cast<double>(count)) / (1 + static_cast<double>(shuffles));
  }
}

}  // namespace

Separability separability(const FeatureProducts& products, std::span<const std::uint32_t> groups, std::uint64_t seed,
                          std::uint32_t stream, std::uint32_t shuffles, const Executor& executor) {
  Separability out;
  const std::size_t n = products.samples();
  if (groups.size() != n) throw Failure(ErrorCode::usage, "expected one group for each sample", "groups");
  const std::array<FeatureSpace*, 2> spaces = {&out.published, &out.standardized};
  if (n == 0) {
    for (FeatureSpace* const space : spaces) space->reason = UntestedReason::too_few;
    return out;
  }
  const Labels labels(groups);
  std::array<std::vector<double>, 2> distances;
  for_all(executor, spaces.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      distances[k] = measure(k == 0 ? products.centred() : products.standardized(), n, labels, *spaces[k]);
  });
  std::vector<std::uint32_t> as_they_are(n);
  std::iota(as_they_are.begin(), as_they_are.end(), 0U);
  std::vector<Open> open;
  for (std::size_t k = 0; k < spaces.size(); ++k) {
    FeatureSpace& space = *spaces[k];
    if (space.reason != UntestedReason::none) continue;
    double all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) all += distances[k][i * n + j];
    const double within = sum_within(distances[k], n, labels, as_they_are);
    // Distances between identical samples are only rounding: the ratio is then undefined.
    space.ratio = ratio_of(within, all, labels);
    if (!(space.ratio < 1 / kNothing)) {
      space.ratio = kNoNumber;
      space.reason = UntestedReason::no_variance;
      continue;
    }
    silhouettes_of(distances[k], n, labels, space);
    open.push_back({&space, std::move(distances[k]), all});
  }
  find_p(open, n, labels, seed, stream, shuffles, executor);
  return out;
}

}  // namespace millrace::statistics
