#include "src/kernels/statistics/permute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "src/base/error.h"
#include "src/kernels/kernel_test.h"
#include "src/kernels/statistics/bootstrap.h"
#include "src/kernels/statistics/compare.h"
#include "src/kernels/statistics/random.h"
#include "src/kernels/statistics/table_for_test.h"

namespace millrace::statistics {
namespace {

constexpr std::uint32_t kShuffles = 200;

std::vector<std::uint64_t> bits(const Permutations& found) {
  std::vector<std::uint64_t> out;
  for (const auto* values : {&found.raw, &found.familywise})
    for (const double value : *values) out.push_back(std::bit_cast<std::uint64_t>(value));
  return out;
}

Permutations permuted(const OwnTable& own, std::uint64_t seed = 3, std::uint32_t shuffles = kShuffles) {
  return permute(own.table(), std::vector<std::uint8_t>(own.columns, 1), seed, shuffles, Executor(1));
}

// |t| of the pair's rows where `first` are one side, as the header has it.
double size_of_t(const OwnTable& own, const std::vector<std::uint32_t>& rows, const std::vector<std::size_t>& first,
                 std::size_t column) {
  std::vector<double> sides[2];
  for (std::size_t i = 0; i < rows.size(); ++i)
    sides[std::find(first.begin(), first.end(), i) == first.end()].push_back(own.table().at(rows[i], column));
  const Comparison found = compare(sides[0], sides[1]);
  if (found.reason == Reason::no_variance) return std::numeric_limits<double>::infinity();
  return found.reason == Reason::none ? std::fabs(found.t) : 0;
}

// By the definition, a shuffle and a column at a time.
Permutations reference(const OwnTable& own, const std::vector<std::uint8_t>& family, std::uint64_t seed) {
  Permutations out;
  const auto rows_of = rows_by_group(own.table());
  const auto pairs = pairs_of(own.group_count);
  std::vector<double> most(kShuffles, 0), observed;
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) {
    const auto [a, b] = pairs[pair];
    std::vector<std::uint32_t> rows = rows_of[a];
    rows.insert(rows.end(), rows_of[b].begin(), rows_of[b].end());
    const std::size_t chosen = std::min(rows_of[a].size(), rows_of[b].size());
    std::vector<std::vector<std::size_t>> splits;
    for (std::uint32_t s = 0; s < kShuffles; ++s) {
      Draws draws(seed, Purpose::permutation, pair, s);
      std::vector<std::size_t> places(rows.size());
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
      for (std::size_t i = 0; i < chosen; ++i)
        std::swap(places[i], places[i + below(static_cast<std::uint32_t>(rows.size() - i), draws.next())]);
      splits.emplace_back(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    for (std::size_t c = 0; c < own.columns; ++c) {
      const Comparison found = compare(own.sample(a, c), own.sample(b, c));
      observed.push_back(found.reason == Reason::none ? std::fabs(found.t) * (1 - 1e-12) - 1e-12 : kNoNumber);
      out.reason.push_back(found.reason);
      out.raw.push_back(found.reason == Reason::none ? 1 : kNoNumber);
      if (found.reason != Reason::none) continue;
      for (std::uint32_t s = 0; s < kShuffles; ++s) {
        const double t = size_of_t(own, rows, splits[s], c);
        out.raw.back() += t >= observed.back();
        if (family[c] != 0) most[s] = std::max(most[s], t);
      }
      out.raw.back() /= kShuffles + 1;
    }
  }
  for (std::size_t at = 0; at < observed.size(); ++at) {
    const bool none = std::isnan(observed[at]) || family[at % own.columns] == 0;
    const auto count = std::count_if(most.begin(), most.end(), [&](double t) { return t >= observed[at]; });
    out.familywise.push_back(none ? kNoNumber : (1 + static_cast<double>(count)) / (kShuffles + 1));
  }
  return out;
}

TEST(Permute, FollowsTheDefinition) {
  for (const auto& sizes : std::vector<std::vector<std::size_t>>{{5, 5, 5}, {3, 7}, {6, 4, 1}, {2, 2}, {0, 4, 4}}) {
    for (const int hole : {0, 4}) {
      OwnTable own = random_table(sizes, 21, 1, hole);
      for (std::size_t row = 0; row < own.groups.size(); ++row) {
        own.at(row, 2) = 1;                               // constant
        own.at(row, 3) = own.groups[row];                 // constant in each group
        own.at(row, 4) = std::round(2 * own.at(row, 4));  // many ties
        own.at(row, 5) = 1e6 + own.at(row, 5);            // far from 0
        own.at(row, 6) = row % 2 == 0 ? std::nan("") : 1e-9 * own.at(row, 6);
      }
      std::vector<std::uint8_t> family(own.columns, 1);
      family[1] = family[8] = 0;
      const Permutations found = permute(own.table(), family, 9, kShuffles, Executor(1)),
                         expected = reference(own, family, 9);
      EXPECT_EQ(found.reason, expected.reason);
      EXPECT_EQ(bits(found), bits(expected)) << sizes.size() << " groups, holes " << hole;
    }
  }
}

TEST(Permute, TheSameBitsForEveryLevelAndThreadCount) {
  for (const int hole : {0, 7}) {
    const OwnTable own = random_table({12, 12, 9}, 53, 2, hole);
    const std::vector<std::uint8_t> family(own.columns, 1);
    const auto expected = bits(permuted(own, 5, 700));
    at_every_cpu_level([&] {
      for (const int threads : {1, 2, 3})
        EXPECT_EQ(bits(permute(own.table(), family, 5, 700, Executor(threads))), expected) << threads << " threads";
    });
  }
}

TEST(Permute, ShiftAndScaleChangeNothing) {
  OwnTable own = random_table({8, 8}, 20, 3);
  const auto expected = bits(permuted(own));
  for (double& value : own.values) value = value * 0x1p300;
  EXPECT_EQ(bits(permuted(own)), expected);
  for (double& value : own.values) value = value * 0x1p-700 * 0x1p100;
  EXPECT_EQ(bits(permuted(own)), expected);
  for (double& value : own.values) value = value * 0x1p300 + 1000;
  EXPECT_EQ(bits(permuted(own)), expected);
}

TEST(Permute, AClearDifferenceIsFoundAndItsLikesBesideItAreNot) {
  OwnTable own = random_table({12, 12, 12}, 40, 4);
  for (std::size_t row = 0; row < own.groups.size(); ++row)
    if (own.groups[row] == 0) own.at(row, 7) += 3;
  const Permutations found = permuted(own, 1, 2000);
  // The pairs of group 0 at column 7, and nothing else: 1 and 2 are alike there, whatever 0 is.
  for (std::size_t pair = 0; pair < 3; ++pair) {
    for (std::size_t c = 0; c < own.columns; ++c) {
      const double p = found.familywise[pair * own.columns + c];
      if (c == 7 && pair < 2) {
        EXPECT_LE(p, 2.0 / 2001);
      } else {
        EXPECT_GT(p, 0.05) << pair << " " << c;
      }
      EXPECT_GE(p, found.raw[pair * own.columns + c]);
    }
  }
}

TEST(Permute, EqualGroupsHaveAPOfOne) {
  OwnTable own = random_table({6, 6}, 3, 5);
  const auto rows_of = rows_by_group(own.table());
  for (std::size_t c = 0; c < own.columns; ++c)
    for (std::size_t i = 0; i < 6; ++i) own.at(rows_of[1][i], c) = own.at(rows_of[0][i], c);
  for (const double p : permuted(own).raw) EXPECT_EQ(p, 1);
}

TEST(Permute, WhatIsOutsideTheFamilyChangesNothingInIt) {
  OwnTable own = random_table({7, 7}, 18, 6);
  std::vector<std::uint8_t> family(own.columns, 1);
  family[4] = 0;
  const Permutations before = permute(own.table(), family, 3, kShuffles, Executor(1));
  for (std::size_t row = 0; row < own.groups.size(); ++row) own.at(row, 4) += 10 * own.groups[row];
  const Permutations after = permute(own.table(), family, 3, kShuffles, Executor(1));
  EXPECT_TRUE(std::isnan(after.familywise[4]));
  EXPECT_NE(before.raw[4], after.raw[4]);
  for (std::size_t c = 0; c < own.columns; ++c)
    if (c != 4) {
      EXPECT_EQ(before.familywise[c], after.familywise[c]);
    }
}

TEST(Permute, ATableThatDoesNotFitIsRefused) {
  const OwnTable own = random_table({2, 2}, 3, 1);
  const Executor executor(1);
  EXPECT_THROW(permute(own.table(), std::vector<std::uint8_t>(2, 1), 1, 1, executor), Failure);
  const std::vector<std::uint8_t> family(3, 1);
  EXPECT_THROW(permute({own.values, own.groups, 3, 1}, family, 1, 1, executor), Failure) << "a group too many";
  EXPECT_THROW(permute({own.values, own.groups, 2, 2}, std::vector<std::uint8_t>(2, 1), 1, 1, executor), Failure);
}

// Stopped before it begins, and somewhere on the way: never a result that was half made, or a look at what was not.
TEST(Permute, AStoppedExecutorStopsIt) {
  const OwnTable own = random_table({6, 6, 5, 5}, 40, 2);
  const std::vector<std::uint8_t> family(own.columns, 1);
  for (int moment = 0; moment < 60; ++moment) {
    CancelToken token;
    if (moment == 0) token.cancel();
    const Executor executor(1 + moment % 2, &token);
    std::thread stopping([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * moment));
      token.cancel();
    });
    const auto is_stop = [](const Failure& failure) { return failure.error().code == ErrorCode::cancelled; };
    for (const bool bootstrapped : {false, true}) {
      try {
        if (bootstrapped) bootstrap(own.table(), 1, 500, executor);
        if (!bootstrapped) permute(own.table(), family, 1, 2000, executor);
        EXPECT_GT(moment, 0) << "nothing had stopped it";
      } catch (const Failure& failure) {
        EXPECT_TRUE(is_stop(failure)) << failure.what();
      }
    }
    stopping.join();
  }
}

TEST(Statistics, NumbersWithoutASquareAreRefused) {
  for (const double bad : {std::numeric_limits<double>::infinity(), -1e151, 1e-151}) {
    OwnTable own = random_table({3, 3}, 2, 1);
    own.at(2, 1) = bad;
    EXPECT_THROW(permuted(own), Failure) << bad;
    own.at(2, 1) = 0;
    EXPECT_NO_THROW(permuted(own));
  }
}

}  // namespace
}  // namespace millrace::statistics
