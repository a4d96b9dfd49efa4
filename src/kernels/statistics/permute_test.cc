#include "src/kernels/statistics/permute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/random.h"
#include "src/kernels/statistics/table_for_test.h"

namespace millrace::statistics {
namespace {

constexpr std::uint32_t kShuffles = 200;

std::vector<std::uint64_t> bits(const PermutationResult& found) {
  std::vector<std::uint64_t> out;
  for (const auto* values : {&found.raw, &found.familywise})
    for (const double value : *values) out.push_back(std::bit_cast<std::uint64_t>(value));
  return out;
}

std::vector<std::uint8_t> whole_family(const TestTable& own) {
  return std::vector<std::uint8_t>(pairs_of(own.group_count).size() * own.columns, 1);
}

PermutationResult permuted(const TestTable& own, std::uint64_t seed = 3, std::uint32_t shuffles = kShuffles) {
  return permute(own.table(), whole_family(own), seed, shuffles, Executor(1));
}

// Returns |t| of the pair's rows where `first` are one side, as defined in permute.h.
double size_of_t(const TestTable& own, const std::vector<std::uint32_t>& rows, const std::vector<std::size_t>& first,
                 std::size_t column) {
  std::vector<double> sides[2];
  for (std::size_t i = 0; i < rows.size(); ++i)
    sides[std::find(first.begin(), first.end(), i) == first.end()].push_back(own.table().at(rows[i], column));
  const SampleComparison found = compare(sides[0], sides[1]);
  if (found.reason == UntestedReason::no_variance) return std::numeric_limits<double>::infinity();
  return found.reason == UntestedReason::none ? std::fabs(found.t) : 0;
}

using Sides = std::vector<std::vector<std::size_t>>;

// Returns the stored sides of all permutations of `n` videos, `chosen` of them on a side. Of equal sides it is the one
// with place 0.
Sides all_sides(std::size_t n, std::size_t chosen) {
  Sides out;
  for (std::uint32_t bits = 0; bits < (1U << n); ++bits) {
    if (static_cast<std::size_t>(std::popcount(bits)) != chosen || (2 * chosen == n && (bits & 1) == 0)) continue;
    std::vector<std::size_t> side;
    for (std::size_t at = 0; at < n; ++at)
      if ((bits >> at & 1) != 0) side.push_back(at);
    out.push_back(side);
  }
  return out;
}
Sides drawn_sides(std::size_t n, std::size_t chosen, std::uint64_t seed, std::uint32_t pair) {
  Sides out;
  for (std::uint32_t s = 0; s < kShuffles; ++s) {
    RandomStream draws(seed, Purpose::permutation, pair, s);
    std::vector<std::size_t> places(n);
    for (std::size_t i = 0; i < n; ++i) places[i] = i;
    for (std::size_t i = 0; i < chosen; ++i)
      std::swap(places[i], places[i + below(static_cast<std::uint32_t>(n - i), draws.next())]);
    out.emplace_back(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return out;
}

// Reference by the definition, a permutation and a column at a time.
PermutationResult reference(const TestTable& own, const std::vector<std::uint8_t>& family, std::uint64_t seed) {
  PermutationResult out;
  const auto rows_of = rows_by_group(own.table());
  const auto pairs = pairs_of(own.group_count);
  std::vector<double> ways;  // number of ways for pairs of the family; 0: random
  std::vector<std::size_t> of_family;
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [a, b] = pairs[pair];
    std::vector<std::uint32_t> rows = rows_of[a];
    rows.insert(rows.end(), rows_of[b].begin(), rows_of[b].end());
    const std::size_t n = rows.size(), chosen = std::min(rows_of[a].size(), rows_of[b].size());
    Sides sides = chosen > 0 ? all_sides(n, chosen) : Sides{};
    const bool all = sides.size() <= kShuffles;
    if (!all) sides = drawn_sides(n, chosen, seed, pair);
    const auto share = [&](auto count) {
      const auto k = static_cast<double>(count), of = static_cast<double>(sides.size());
      return all ? k / of : (1 + k) / (1 + of);
    };
    std::vector<double> most(sides.size(), 0), observed;
    for (std::size_t c = 0; c < own.columns; ++c) {
      const SampleComparison found = compare(own.sample(a, c), own.sample(b, c));
      const bool none = found.reason != UntestedReason::none;
      out.reason.push_back(found.reason);
      observed.push_back(none ? kNoNumber : std::fabs(found.t) * (1 - 1e-12) - 1e-12);
      std::size_t reached = 0;
      for (std::size_t s = 0; !none && s < sides.size(); ++s) {
        const double t = size_of_t(own, rows, sides[s], c);
        reached += t >= observed.back() ? 1 : 0;
        if (family[pair * own.columns + c] != 0) most[s] = std::max(most[s], t);
      }
      out.raw.push_back(none ? kNoNumber : share(reached));
    }
    bool any = false;
    for (std::size_t c = 0; c < own.columns; ++c) {
      const bool none = std::isnan(observed[c]) || family[pair * own.columns + c] == 0;
      any = any || !none;
      const auto count = std::count_if(most.begin(), most.end(), [&](double t) { return t >= observed[c]; });
      out.familywise.push_back(none ? kNoNumber : share(count));
    }
    out.least.push_back(any ? share(all ? 1 : 0) : 1);
    if (any) of_family.push_back(pair);
    ways.push_back(all ? static_cast<double>(sides.size()) : 0);
  }
  const auto over_pairs = [&](double p, std::size_t own_pair) {
    double none = 1;
    for (const std::size_t pair : of_family)
      if (pair != own_pair) none *= 1 - (ways[pair] > 0 ? std::floor(p * ways[pair] + 1e-9) / ways[pair] : p);
    return p + (1 - p) * (1 - none);
  };
  for (const std::size_t pair : of_family) out.least[pair] = over_pairs(out.least[pair], pair);
  for (std::size_t at = 0; at < out.familywise.size(); ++at)
    if (!std::isnan(out.familywise[at])) out.familywise[at] = over_pairs(out.familywise[at], at / own.columns);
  return out;
}

void expect_the_same(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << i;
    if (!std::isnan(expected[i])) {
      EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
    }
  }
}

TEST(Permute, FollowsTheDefinition) {
  // Some pairs have all permutations, others random ones.
  for (const auto& sizes :
       std::vector<std::vector<std::size_t>>{{5, 5, 5}, {3, 7}, {6, 4, 1}, {2, 2}, {0, 4, 4}, {6, 6, 6, 2}}) {
    for (const int hole : {0, 4}) {
      TestTable own = random_table(sizes, 21, 1, hole);
      for (std::size_t row = 0; row < own.groups.size(); ++row) {
        own.at(row, 2) = 1;                               // constant
        own.at(row, 3) = own.groups[row];                 // constant in each group
        own.at(row, 4) = std::round(2 * own.at(row, 4));  // many ties
        own.at(row, 5) = 1e6 + own.at(row, 5);            // far from 0
        own.at(row, 6) = row % 2 == 0 ? std::nan("") : 1e-9 * own.at(row, 6);
      }
      std::vector<std::uint8_t> family = whole_family(own);
      family[1] = family[8] = family[family.size() - 4] = 0;
      const PermutationResult found = permute(own.table(), family, 9, kShuffles, Executor(1)),
                              expected = reference(own, family, 9);
      EXPECT_EQ(found.reason, expected.reason);
      SCOPED_TRACE(testing::Message() << sizes.size() << " groups, holes " << hole);
      expect_the_same(found.raw, expected.raw);
      expect_the_same(found.familywise, expected.familywise);
      expect_the_same(found.least, expected.least);
    }
  }
}

TEST(Permute, TheSameBitsForEveryLevelAndThreadCount) {
  for (const int hole : {0, 7}) {
    const TestTable own = random_table({12, 12, 9}, 53, 2, hole);
    const std::vector<std::uint8_t> family = whole_family(own);
    const auto expected = bits(permuted(own, 5, 700));
    at_every_cpu_level([&] {
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(bits(permute(own.table(), family, 5, 700, Executor(threads))), expected) << threads << " threads";
    });
  }
}

TEST(Permute, ShiftAndScaleChangeNothing) {
  TestTable own = random_table({8, 8}, 20, 3);
  const auto expected = bits(permuted(own));
  for (double& value : own.values) value = value * 0x1p300;
  EXPECT_EQ(bits(permuted(own)), expected);
  for (double& value : own.values) value = value * 0x1p-700 * 0x1p100;
  EXPECT_EQ(bits(permuted(own)), expected);
  for (double& value : own.values) value = value * 0x1p300 + 1000;
  EXPECT_EQ(bits(permuted(own)), expected);
}

TEST(Permute, AClearDifferenceIsFoundAndItsLikesBesideItAreNot) {
  TestTable own = random_table({12, 12, 12}, 40, 4);
  for (std::size_t row = 0; row < own.groups.size(); ++row)
    if (own.groups[row] == 0) own.at(row, 7) += 3;
  const PermutationResult found = permuted(own, 1, 2000);
  // The pairs of group 0 differ at column 7, and nothing else does: groups 1 and 2 are equal there, whatever group 0
  // holds.
  for (std::size_t pair = 0; pair < 3; ++pair) {
    for (std::size_t c = 0; c < own.columns; ++c) {
      const double p = found.familywise[pair * own.columns + c];
      if (c == 7 && pair < 2) {
        EXPECT_LE(p, 3.0 / 2001);
      } else {
        EXPECT_GT(p, 0.05) << pair << " " << c;
      }
      EXPECT_GE(p, found.raw[pair * own.columns + c]);
    }
  }
}

TEST(Permute, EqualGroupsHaveAPOfOne) {
  TestTable own = random_table({6, 6}, 3, 5);
  const auto rows_of = rows_by_group(own.table());
  for (std::size_t c = 0; c < own.columns; ++c)
    for (std::size_t i = 0; i < 6; ++i) own.at(rows_of[1][i], c) = own.at(rows_of[0][i], c);
  for (const double p : permuted(own).raw) EXPECT_EQ(p, 1);
}

TEST(Permute, WhatIsOutsideTheFamilyChangesNothingInIt) {
  TestTable own = random_table({7, 7}, 18, 6);
  std::vector<std::uint8_t> family = whole_family(own);
  family[4] = 0;
  const PermutationResult before = permute(own.table(), family, 3, kShuffles, Executor(1));
  for (std::size_t row = 0; row < own.groups.size(); ++row) own.at(row, 4) += 10 * own.groups[row];
  const PermutationResult after = permute(own.table(), family, 3, kShuffles, Executor(1));
  EXPECT_TRUE(std::isnan(after.familywise[4]));
  EXPECT_NE(before.raw[4], after.raw[4]);
  for (std::size_t c = 0; c < own.columns; ++c)
    if (c != 4) {
      EXPECT_EQ(before.familywise[c], after.familywise[c]);
    }
}

TEST(Permute, ATableThatDoesNotFitIsRefused) {
  const TestTable own = random_table({2, 2}, 3, 1);
  const Executor executor(1);
  EXPECT_THROW(permute(own.table(), std::vector<std::uint8_t>(2, 1), 1, 1, executor), Failure);
  EXPECT_THROW(permute(own.table(), std::vector<std::uint8_t>(6, 1), 1, 1, executor), Failure);
  const std::vector<std::uint8_t> family(3, 1);
  EXPECT_THROW(permute({own.values, own.groups, 3, 1}, family, 1, 1, executor), Failure) << "a group too many";
  EXPECT_THROW(permute({own.values, own.groups, 2, 2}, std::vector<std::uint8_t>(2, 1), 1, 1, executor), Failure);
}

// Two groups of two have three permutations, in all of which some |t| of many columns are huge. Larger groups beside
// them must lose no finding by that.
TEST(Permute, FewVideosHideNothingOfOthers) {
  TestTable own = random_table({12, 12, 2, 2}, 60, 4);
  for (std::size_t row = 0; row < own.groups.size(); ++row)
    if (own.groups[row] == 0) own.at(row, 7) += 3;
  const PermutationResult found = permuted(own, 1, 2000);
  EXPECT_LE(found.familywise[7], 6.0 / 2001) << "twelve against twelve";
  EXPECT_NEAR(found.least[0], 1.0 / 2001, 3e-3);
  EXPECT_GE(found.least[5], 1.0 / 3);
  for (std::size_t c = 0; c < own.columns; ++c)
    EXPECT_GE(found.familywise[5 * own.columns + c], 1.0 / 3) << "no p below the least there is";
}

TEST(Permute, AllPermutationsGiveOnlyPossibleP) {
  const TestTable own = random_table({3, 3}, 40, 11);
  for (const double p : permuted(own).raw) EXPECT_NEAR(p * 10, std::round(p * 10), 1e-12) << p;
}

// Cancels the work before it begins, and somewhere on the way: a partial result is never returned or read.
TEST(Permute, AStoppedExecutorStopsIt) {
  const TestTable own = random_table({6, 6, 5, 5}, 40, 2);
  const std::vector<std::uint8_t> family = whole_family(own);
  const std::chrono::microseconds step(100);
  expect_that_it_can_be_stopped(60, step, [&](const Executor& on) { permute(own.table(), family, 1, 2000, on); });
  expect_that_it_can_be_stopped(60, step, [&](const Executor& on) { bootstrap(own.table(), 1, 500, on); });
}

TEST(Statistics, NumbersWithoutASquareAreRefused) {
  for (const double bad : {std::numeric_limits<double>::infinity(), -1e151, 1e-151}) {
    TestTable own = random_table({3, 3}, 2, 1);
    own.at(2, 1) = bad;
    EXPECT_THROW(permuted(own), Failure) << bad;
    own.at(2, 1) = 0;
    EXPECT_NO_THROW(permuted(own));
  }
}

}  // namespace
}  // namespace millrace::statistics
