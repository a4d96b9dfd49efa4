#include "src/kernels/statistics/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/random.h"
#include "src/kernels/statistics/table_for_test.h"

namespace millrace::statistics {
namespace {

std::vector<std::uint64_t> bits(const Intervals& found) {
  std::vector<std::uint64_t> out;
  for (const auto* some : {&found.means, &found.differences})
    for (const Interval& interval : *some)
      for (const double value : {interval.low, interval.high}) out.push_back(std::bit_cast<std::uint64_t>(value));
  return out;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::size_t>(at);
  if (rank + 1 == values.size()) return values[rank];
  return values[rank] + (values[rank + 1] - values[rank]) * (at - static_cast<double>(rank));
}

// Reference by the definition: the means of resamples, sorted.
std::vector<double> resampled(const TestTable& own, std::uint32_t group, std::size_t column, std::uint64_t seed,
                              std::uint32_t replicates) {
  std::vector<double> there, out;
  for (const double value : own.sample(group, column))
    if (value == value) there.push_back(value);
  if (there.size() < 2) return {};
  for (std::uint32_t b = 0; b < replicates; ++b) {
    RandomStream draws(seed, Purpose::bootstrap, group, b);
    double sum = 0;
    for (std::size_t i = 0; i < there.size(); ++i)
      sum += there[below(static_cast<std::uint32_t>(there.size()), draws.next())];
    out.push_back(sum / static_cast<double>(there.size()));
  }
  return out;
}

void expect_interval(const Interval& found, const std::vector<double>& means, const std::string& what) {
  if (means.empty()) {
    EXPECT_TRUE(std::isnan(found.low) && std::isnan(found.high)) << what;
    return;
  }
  EXPECT_NEAR(found.low, quantile(means, 0.025), 1e-12) << what;
  EXPECT_NEAR(found.high, quantile(means, 0.975), 1e-12) << what;
}

TEST(Bootstrap, FollowsTheDefinition) {
  for (const int hole : {0, 4}) {
    // Some columns are skewed, constant or of two values only: guesses about the ends fail there.
    TestTable own = random_table({12, 5, 1, 2}, 19, 1, hole);
    for (std::size_t row = 0; row < own.groups.size(); ++row) {
      own.at(row, 1) = std::exp(6 * own.at(row, 1));
      own.at(row, 2) = -std::exp(9 * own.at(row, 2));
      own.at(row, 3) = 0.1;
      own.at(row, 4) = row == 3 ? 1 : 0;
      if (own.groups[row] == 1) own.at(row, 9) = std::nan("");
    }
    for (const std::uint32_t replicates : {1U, 2U, 40U, 41U, 1000U}) {
      const Intervals found = bootstrap(own.table(), 8, replicates, Executor(1));
      const auto pairs = pairs_of(own.group_count);
      for (std::size_t c = 0; c < own.columns; ++c) {
        std::vector<std::vector<double>> means;
        for (std::uint32_t g = 0; g < own.group_count; ++g) {
          const std::string what = std::to_string(replicates) + ": " + std::to_string(g) + ", " + std::to_string(c);
          means.push_back(resampled(own, g, c, 8, replicates));
          // Column 2 is not compared: its exponentials agree to 1e-12 of their size only.
          if (c != 2) expect_interval(found.means[g * own.columns + c], means[g], what);
        }
        for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
          const auto& [a, b] = pairs[pair];
          std::vector<double> apart;
          if (!means[b].empty())
            for (std::size_t i = 0; i < means[a].size(); ++i) apart.push_back(means[a][i] - means[b][i]);
          if (c != 2) expect_interval(found.differences[pair * own.columns + c], apart, "pair " + std::to_string(pair));
        }
      }
    }
  }
}

TEST(Bootstrap, TheSameBitsForEveryLevelAndThreadCount) {
  for (const int hole : {0, 6}) {
    const TestTable own = random_table({12, 7, 3}, 29, 2, hole);
    const auto expected = bits(bootstrap(own.table(), 4, 500, Executor(1)));
    at_every_cpu_level([&] {
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(bits(bootstrap(own.table(), 4, 500, Executor(threads))), expected) << threads << " threads";
    });
  }
}

TEST(Bootstrap, AShiftMovesMeansAndNoDifferences) {
  TestTable own = random_table({9, 9}, 4, 3);
  // Multiples of 2^-20, to which 2^20 is added without rounding.
  for (double& value : own.values) value = std::round(value * 0x1p20) * 0x1p-20;
  const Intervals before = bootstrap(own.table(), 1, 400, Executor(1));
  for (double& value : own.values) value += 0x1p20;
  const Intervals after = bootstrap(own.table(), 1, 400, Executor(1));
  for (std::size_t at = 0; at < before.means.size(); ++at)
    EXPECT_NEAR(after.means[at].low - 0x1p20, before.means[at].low, 1e-9);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(after.differences[c].high, before.differences[c].high, 1e-9);
}

TEST(Bootstrap, WhatDoesNotVaryHasAPoint) {
  TestTable own = random_table({3, 4}, 1, 4);
  for (std::size_t row = 0; row < own.groups.size(); ++row) own.at(row, 0) = own.groups[row] == 0 ? 0.1 : 0.7;
  const Intervals found = bootstrap(own.table(), 1, 100, Executor(1));
  EXPECT_EQ(found.means[0].low, 0.1);
  EXPECT_EQ(found.means[0].high, 0.1);
  EXPECT_EQ(found.differences[0].low, 0.1 - 0.7);
}

TEST(Bootstrap, AnIntervalHoldsTheMean) {
  const TestTable own = random_table({10, 10}, 30, 5);
  const Intervals found = bootstrap(own.table(), 1, 2000, Executor(1));
  for (std::size_t c = 0; c < own.columns; ++c) {
    const Moments moments = moments_of(own.sample(0, c));
    EXPECT_LT(found.means[c].low, moments.mean);
    EXPECT_GT(found.means[c].high, moments.mean);
    // The interval is about four deviations of the mean wide.
    EXPECT_NEAR((found.means[c].high - found.means[c].low) / (moments.deviation / std::sqrt(10.0)), 3.7, 0.6);
  }
}

TEST(Bootstrap, NoReplicatesAreRefused) {
  const TestTable own = random_table({2, 2}, 1, 1);
  EXPECT_THROW(bootstrap(own.table(), 1, 0, Executor(1)), Failure);
}

}  // namespace
}  // namespace millrace::statistics
