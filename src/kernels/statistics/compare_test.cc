#include "src/kernels/statistics/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/kernels/statistics/multiple_testing.h"

namespace millrace::statistics {
namespace {

constexpr double kHole = kNoNumber;
using Sample = std::vector<double>;

// Two samples that are often used as an example of Welch's test. Constants are from scipy 1.17 and statsmodels 0.15.
const Sample kFirst = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
const Sample kSecond = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};

Sample moved(Sample sample, double factor, double by) {
  for (double& value : sample) value = value * factor + by;
  return sample;
}

TEST(Compare, KnownAnswers) {
  const SampleComparison found = compare(kFirst, kSecond);
  EXPECT_EQ(found.reason, UntestedReason::none);
  EXPECT_EQ(found.moments[0].count, 15U);
  EXPECT_NEAR(found.moments[0].mean, 20.82, 1e-13);
  EXPECT_NEAR(found.moments[0].deviation, 2.8048936827317665, 1e-14);
  EXPECT_NEAR(found.moments[1].mean, 22.986666666666665, 1e-13);
  EXPECT_NEAR(found.moments[1].deviation, 1.9526050974702152, 1e-14);
  EXPECT_NEAR(found.t, -2.455356398286006, 1e-13);
  EXPECT_NEAR(found.df, 24.988529290231416, 1e-12);
  EXPECT_NEAR(found.p, 0.021378001462866992, 1e-14);
  EXPECT_NEAR(found.difference.low, -3.984096267140929, 1e-11);
  EXPECT_NEAR(found.difference.high, -0.3492370661924069, 1e-11);
  EXPECT_NEAR(interval_of(found.moments[0]).low, 19.26670165245124, 1e-11);
  EXPECT_NEAR(interval_of(found.moments[0]).high, 22.373298347548754, 1e-11);
  EXPECT_NEAR(found.cohens_d, -0.8965693907039229, 1e-14);
  EXPECT_NEAR(found.hedges_g, -0.87230115359207429, 1e-14);
  EXPECT_EQ(found.u, 53.5);
  EXPECT_NEAR(found.u_p, 0.015201303821215302, 1e-14);
}

TEST(Compare, TheOtherWayRoundOnlySignsDiffer) {
  const SampleComparison one = compare(kFirst, kSecond), other = compare(kSecond, kFirst);
  EXPECT_EQ(one.t, -other.t);
  EXPECT_EQ(one.df, other.df);
  EXPECT_EQ(one.p, other.p);
  EXPECT_EQ(one.hedges_g, -other.hedges_g);
  EXPECT_EQ(one.u + other.u, 225);
  EXPECT_EQ(one.u_p, other.u_p);
}

TEST(Compare, OrderShiftAndScaleChangeNothing) {
  const SampleComparison plain = compare(kFirst, kSecond);
  Sample turned = kFirst;
  std::reverse(turned.begin(), turned.end());
  for (const auto& [first, second] :
       {std::pair(turned, kSecond), std::pair(moved(kFirst, 1, 1e6), moved(kSecond, 1, 1e6)),
        std::pair(moved(kFirst, 1e100, 0), moved(kSecond, 1e100, 0)),
        std::pair(moved(kFirst, 1e-100, 0), moved(kSecond, 1e-100, 0))}) {
    const SampleComparison found = compare(first, second);
    EXPECT_NEAR(found.t / plain.t, 1, 1e-9);
    EXPECT_NEAR(found.df / plain.df, 1, 1e-9);
    EXPECT_NEAR(found.p / plain.p, 1, 1e-9);
    EXPECT_NEAR(found.hedges_g / plain.hedges_g, 1, 1e-9);
    EXPECT_EQ(found.u, plain.u);
    EXPECT_EQ(found.u_p, plain.u_p);
  }
}

TEST(Compare, MeansThatLieCloseTogetherFarFromZero) {
  // Values differ by 2^-30 beside 2^20: both means are one double, but their difference is not 0.
  const double unit = 0x1p-30, far = 0x1p20;
  const SampleComparison found = compare(Sample{far, far + unit, far + unit}, Sample{far, far, far + unit});
  EXPECT_NEAR(found.t, 1 / std::sqrt(2.0), 1e-9);
}

TEST(Compare, WhatIsAbsentIsLeftOut) {
  Sample holes = kFirst;
  holes.insert(holes.begin() + 3, kHole);
  holes.push_back(kHole);
  const SampleComparison found = compare(holes, kSecond), plain = compare(kFirst, kSecond);
  EXPECT_EQ(found.moments[0].count, 15U);
  EXPECT_EQ(found.p, plain.p);
  EXPECT_EQ(found.u_p, plain.u_p);
}

TEST(Compare, WithoutAPThereIsAReason) {
  struct Case {
    Sample first, second;
    UntestedReason reason;
  };
  for (const Case& c : {Case{{}, {1, 2}, UntestedReason::absent}, Case{{kHole, kHole}, {1, 2}, UntestedReason::absent},
                        Case{{1}, {1, 2}, UntestedReason::too_few}, Case{{1, 2}, {3, kHole}, UntestedReason::too_few},
                        Case{{2, 2}, {2, 2, 2}, UntestedReason::no_variance},
                        // Ten times 0.1 is not 1: the rounding of a sum is no variance.
                        Case{Sample(10, 0.1), Sample(7, 0.3), UntestedReason::no_variance}}) {
    const SampleComparison found = compare(c.first, c.second);
    EXPECT_EQ(found.reason, c.reason);
    for (const double value : {found.t, found.df, found.p, found.cohens_d, found.hedges_g, found.u_p,
                               found.difference.low, found.difference.high})
      EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(compare(Sample(10, 0.1), Sample(7, 0.3)).moments[0].mean, 0.1);
  EXPECT_EQ(compare(Sample{1}, Sample{0, 2}).u, 1) << "U needs no variance";
  const SampleComparison one_varies = compare(Sample{1, 1, 1}, Sample{1, 2, 3});
  EXPECT_EQ(one_varies.reason, UntestedReason::none);
  EXPECT_EQ(one_varies.df, 2);
}

TEST(Compare, EqualSamplesAreNotDifferent) {
  const SampleComparison found = compare(kFirst, kFirst);
  EXPECT_EQ(found.t, 0);
  EXPECT_EQ(found.p, 1);
  EXPECT_EQ(found.u_p, 1);
  EXPECT_EQ(found.hedges_g, 0);
}

const Sample kP = {.01, .04, .03, .04, .001, .6, 1.0, .03};

void expect_near(const Sample& found, const Sample& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], 1e-15) << i;
    }
  }
}

// Constants are from statsmodels' multipletests, with the methods holm and fdr_bh.
TEST(Multiplicity, KnownAnswers) {
  expect_near(holm(kP), {0.07, 0.18, 0.18, 0.18, 0.008, 1.0, 1.0, 0.18});
  constexpr double kTied = 0.05333333333333334;
  expect_near(benjamini_hochberg(kP), {0.04, kTied, kTied, kTied, 0.008, 0.6857142857142857, 1.0, kTied});
}

TEST(Multiplicity, NoTestCountsForNothing) {
  Sample holes = kP, holm_expected = holm(kP), bh_expected = benjamini_hochberg(kP);
  for (Sample* const sample : {&holes, &holm_expected, &bh_expected}) sample->insert(sample->begin() + 2, kHole);
  expect_near(holm(holes), holm_expected);
  expect_near(benjamini_hochberg(holes), bh_expected);
  EXPECT_TRUE(holm({}).empty());
  expect_near(holm(Sample{kHole}), {kHole});
  expect_near(benjamini_hochberg(Sample{0.2}), {0.2});
}

}  // namespace
}  // namespace millrace::statistics
