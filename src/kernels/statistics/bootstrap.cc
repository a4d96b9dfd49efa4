#include "src/kernels/statistics/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/base/error.h"
#include "src/kernels/statistics/bootstrap_steps.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/random.h"
#include "src/memory/buffer.h"

namespace millrace::statistics {
namespace {

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
constexpr double kTail = 0.025;

// Place of a quantile: a fraction `part` of the way from the order statistic `rank`, counted from 0, to the next.
struct Place {
  std::size_t rank = 0;
  double part = 0;
};
Place place_of(double quantile, std::size_t count) {
  const double at = quantile * static_cast<double>(count - 1);
  const auto rank = static_cast<std::size_t>(at);
  return {rank, at - static_cast<double>(rank)};
}

// Interpolates as numpy does: from the nearer end.
double between(double a, double b, double part) { return part >= 0.5 ? b - (b - a) * (1 - part) : a + (b - a) * part; }

// Interpolates a quantile among the smallest values; `some` holds at least the two order statistics that it needs.
double lower_quantile(double* some, std::size_t count, const Place& place) {
  double* const at = some + place.rank;
  std::nth_element(some, at, some + count);
  if (place.rank + 1 == count) return *at;
  return between(*at, *std::min_element(at + 1, some + count), place.part);
}

// Interpolates a quantile among the greatest values: `some` holds the greatest `count` of `all` values.
double upper_quantile(double* some, std::size_t count, std::size_t all, const Place& place) {
  const std::size_t rank = place.rank + count - all;
  double* const at = some + rank;
  std::nth_element(some, at, some + count);
  if (rank + 1 == count) return *at;
  return between(*at, *std::min_element(at + 1, some + count), place.part);
}

// Quantiles of values that are computed on request. Both ends are gathered beyond a guess of some deviations from the
// middle, and the quantiles are selected from them. Where the guess cut off too many, a nearer one is taken, and at
// last all values. A guess changes only the time: 3 ns per value with the first guess, 12 by selecting from all.
class Quantiles {
 public:
  explicit Quantiles(std::size_t count)
      : count_(count), low_(place_of(kTail, count)), high_(place_of(1 - kTail, count)), below_(count), above_(count) {}

  template <typename Value>
  Interval of(const Value& value, double deviation) {
    for (const double guess : {1.72, 1.3, -1.0}) {
      const double reach = guess < 0 ? -std::numeric_limits<double>::infinity() : guess * deviation;
      std::size_t fewer = 0, more = 0;
      for (std::size_t b = 0; b < count_; ++b) {
        const double x = value(b);
        below_[fewer] = x;
        fewer += x <= -reach;
        above_[more] = x;
        more += x >= reach;
      }
      if (fewer < std::min(low_.rank + 2, count_) || more < count_ - high_.rank) continue;
      return {lower_quantile(below_.data(), fewer, low_), upper_quantile(above_.data(), more, count_, high_)};
    }
    return {};
  }

 private:
  std::size_t count_;
  Place low_, high_;
  std::vector<double> below_, above_;
};

// Moments of a group in the columns of a block.
struct Lanes {
  std::array<std::size_t, kTogether> counts{};
  std::array<double, kTogether> centres{};
  std::array<double, kTogether> deviations{};  // standard deviations of the mean of a resample
};

// Buffers of one thread.
struct Scratch {
  std::vector<double> values, present;
  Buffer<double> means;  // [kTogether, groups, replicates]: means of resamples, less the centres
  std::vector<Lanes> groups;
};

// Gathers the columns from `first` on of a group's rows into scratch.values [videos, kTogether], less their means.
// Values that are present are moved together. Lanes beyond the last column repeat it.
Lanes gather(const SampleTable& table, const std::vector<std::uint32_t>& rows, std::size_t first, Scratch& scratch) {
  Lanes out;
  scratch.values.assign(rows.size() * kTogether, 0);
  for (std::size_t k = 0; k < kTogether; ++k) {
    const std::size_t column = std::min(first + k, table.columns - 1);
    scratch.present.clear();
    for (const std::uint32_t row : rows) {
      const double value = table.at(row, column);
      if (value == value) scratch.present.push_back(value);
    }
    const Moments moments = moments_of(scratch.present);
    out.counts[k] = moments.count;
    if (moments.count < 2) continue;
    const auto n = static_cast<double>(moments.count);
    out.centres[k] = moments.mean;
    out.deviations[k] = moments.deviation * std::sqrt((n - 1) / n / n);
    for (std::size_t i = 0; i < moments.count; ++i)
      scratch.values[i * kTogether + k] = scratch.present[i] - moments.mean;
  }
  return out;
}

// Computes the means of resamples of the gathered values, by random words [replicates, videos].
void resample(const Scratch& scratch, const Lanes& lanes, const std::uint32_t* words, std::size_t videos,
              std::size_t replicates, double* means, std::size_t pitch) {
  if (std::count(lanes.counts.begin(), lanes.counts.end(), lanes.counts[0]) == kTogether) {
    if (lanes.counts[0] > 1)
      resample_means(scratch.values.data(), lanes.counts[0], words, videos, replicates, means, pitch);
    return;
  }
  // Lanes draw among different numbers of values where videos lack columns.
  for (std::size_t k = 0; k < kTogether; ++k) {
    const auto n = static_cast<std::uint32_t>(lanes.counts[k]);
    if (n < 2) continue;
    for (std::size_t b = 0; b < replicates; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += scratch.values[below(n, words[b * videos + i]) * kTogether + k];
      means[k * pitch + b] = sum / n;
    }
  }
}

}  // namespace

Intervals bootstrap(const SampleTable& table, std::uint64_t seed, std::uint32_t replicates, const Executor& executor) {
  check(table);
  if (replicates == 0) throw Failure(ErrorCode::usage, "expected at least 1 replicate", "a bootstrap");
  const auto rows_of = rows_by_group(table);
  const auto pairs = pairs_of(table.group_count);
  const std::size_t groups = rows_of.size(), columns = table.columns;
  Intervals out;
  out.means.resize(groups * columns);
  out.differences.resize(pairs.size() * columns);

  std::vector<Buffer<std::uint32_t>> words(groups);  // [replicates, videos] for each group
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t videos = rows_of[g].size();
    words[g].resize(replicates * videos);
    for_all(executor, replicates, 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = begin; b < end; ++b) {
        RandomStream draws(seed, Purpose::bootstrap, static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(b));
        for (std::size_t i = 0; i < videos; ++i) words[g][b * videos + i] = draws.next();
      }
    });
  }

  const std::size_t blocks = (columns + kTogether - 1) / kTogether;
  for_all(executor, blocks, 1, [&](std::size_t begin, std::size_t end) {
    Scratch scratch;
    scratch.means.resize(kTogether * groups * replicates);
    Quantiles quantiles(replicates);
    scratch.groups.resize(groups);
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * kTogether;
      for (std::size_t g = 0; g < groups; ++g) {
        scratch.groups[g] = gather(table, rows_of[g], first, scratch);
        resample(scratch, scratch.groups[g], words[g].data(), rows_of[g].size(), replicates,
                 scratch.means.data() + g * replicates, groups * replicates);
      }
      for (std::size_t k = 0; k < std::min(kTogether, columns - first); ++k) {
        const auto means_of = [&](std::size_t g) { return scratch.means.data() + (k * groups + g) * replicates; };
        const auto known = [&](std::size_t g) { return scratch.groups[g].counts[k] > 1; };
        for (std::size_t g = 0; g < groups; ++g) {
          if (!known(g)) continue;
          const double *const means = means_of(g), centre = scratch.groups[g].centres[k];
          const Interval found = quantiles.of([&](std::size_t b) { return means[b]; }, scratch.groups[g].deviations[k]);
          out.means[g * columns + first + k] = {centre + found.low, centre + found.high};
        }
        for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
          const auto [a, b] = pairs[pair];
          if (!known(a) || !known(b)) continue;
          const Lanes &of_a = scratch.groups[a], &of_b = scratch.groups[b];
          const double *const means_a = means_of(a), *const means_b = means_of(b);
          const double deviation =
              std::sqrt(of_a.deviations[k] * of_a.deviations[k] + of_b.deviations[k] * of_b.deviations[k]);
          const double apart = of_a.centres[k] - of_b.centres[k];
          const Interval found = quantiles.of([&](std::size_t i) { return means_a[i] - means_b[i]; }, deviation);
          out.differences[pair * columns + first + k] = {apart + found.low, apart + found.high};
        }
      }
    }
  });
  return out;
}

}  // namespace millrace::statistics
