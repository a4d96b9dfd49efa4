#include "src/kernels/statistics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/kernels/elementary.h"
#include "src/kernels/statistics/random.h"

namespace millrace::statistics {
namespace {

void expect_relative(double found, double expected, double tolerance) {
  EXPECT_NEAR(found / expected, 1, tolerance) << found << ", not " << expected;
}

// Known answers of Random123's kat_vectors: philox4x32 of ten rounds.
TEST(Random, PhiloxGivesItsPublishedAnswers) {
  EXPECT_EQ(philox({}, {}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox({kAll, kAll, kAll, kAll}, {kAll, kAll}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ASequenceFollowsItsHeader) {
  RandomStream draws(0x0123456789abcdef, Purpose::bootstrap, 7, 9);
  for (std::uint32_t i = 0; i < 10; ++i)
    EXPECT_EQ(draws.next(), philox({i / 4, 9, 7, 2}, {0x89abcdef, 0x01234567})[i % 4]) << i;
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  EXPECT_EQ(below(12, 0), 0U);
  EXPECT_EQ(below(12, 0xffffffff), 11U);
  EXPECT_EQ(below(1, 0xffffffff), 0U);
  int counts[7] = {};
  RandomStream draws(1, Purpose::permutation, 0, 0);
  for (int i = 0; i < 70000; ++i) ++counts[below(7, draws.next())];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Elementary, LogarithmOfOnePlusKeepsWhatOnePlusLoses) {
  EXPECT_EQ(logarithm_of_one_plus(0), 0);
  EXPECT_EQ(logarithm_of_one_plus(1e-300), 1e-300);
  for (int k = -180; k < 60; ++k) {
    const double x = std::pow(10, k / 10.0);
    expect_relative(logarithm_of_one_plus(x), std::log1p(x), 1e-15);
    if (x < 1) expect_relative(logarithm_of_one_plus(-x), std::log1p(-x), 1e-15);
  }
}

// Constants of this file: scipy 1.17 (stats.t.sf), and mpmath for erfc.
TEST(Distributions, Student) {
  expect_relative(student_two_sided(2, 5), 0.10193947882985835, 1e-12);
  expect_relative(student_two_sided(-2, 5), 0.10193947882985835, 1e-12);
  expect_relative(student_two_sided(12.706204736432095, 1), 0.0499999999989913, 1e-10);
  expect_relative(student_two_sided(0.5, 22), 0.6220395560754823, 1e-12);
  expect_relative(student_two_sided(6.5, 11.75), 3.244899535259777e-05, 1e-11);
  expect_relative(student_two_sided(40, 30), 1.3726045194406417e-27, 1e-11);
  expect_relative(student_two_sided(3.7, 1e6), 0.00021561101120253642, 1e-10);
  expect_relative(student_two_sided(1e10, 29.5), 6.96985962487087e-275, 1e-10);
  EXPECT_EQ(student_two_sided(0, 3), 1);
  EXPECT_EQ(student_two_sided(std::numeric_limits<double>::infinity(), 3), 0);
  EXPECT_TRUE(std::isnan(student_two_sided(1, 0)));
  EXPECT_TRUE(std::isnan(student_two_sided(std::nan(""), 3)));
  // Far out p is 2 / (pi t) with one degree of freedom: neither t^2 nor its inverse fits a double.
  expect_relative(student_two_sided(1e300, 1), 2 / 3.14159265358979323846 * 1e-300, 1e-11);
}

TEST(Distributions, StudentCritical) {
  // Constants are scipy.stats.t.isf(p / 2, df).
  expect_relative(student_critical(0.05, 1), 12.706204736174694, 1e-12);
  expect_relative(student_critical(0.05, 3.7), 2.8675207071911903, 1e-12);
  expect_relative(student_critical(0.05, 22), 2.0738730679040258, 1e-12);
  expect_relative(student_critical(0.05, 1e6), 1.9599663568141072, 1e-10);
  expect_relative(student_critical(0.001, 2), 31.59905457644364, 1e-11);
  EXPECT_EQ(student_critical(1, 5), 0);
  EXPECT_TRUE(std::isnan(student_critical(0, 5)));
  EXPECT_TRUE(std::isnan(student_critical(0.05, 0)));
}

TEST(Distributions, Normal) {
  EXPECT_EQ(normal_two_sided(0), 1);
  expect_relative(normal_two_sided(0.5), 0.61707507745197379, 1e-14);
  expect_relative(normal_two_sided(-1.959963984540054), 0.050000000000000022, 1e-13);
  expect_relative(normal_two_sided(5), 5.7330314375838782e-7, 1e-12);
  expect_relative(normal_two_sided(10), 1.5239706048321052e-23, 1e-12);
  expect_relative(normal_two_sided(37), 1.1451142445049154e-299, 1e-12);
  EXPECT_EQ(normal_two_sided(1e300), 0);
  // The series ends here, and the continued fraction begins.
  expect_relative(normal_two_sided(2.8284271), normal_two_sided(2.8284272), 1e-6);
}

TEST(Distributions, HedgesCorrectionIsTheExactOne) {
  expect_relative(hedges_correction(28), 0.97293211505604163, 1e-15);
  // gamma(1) / gamma(1/2), where 1 - 3 / (4 df - 1) would be 4/7.
  expect_relative(hedges_correction(2), 1 / std::sqrt(3.14159265358979323846), 1e-15);
  EXPECT_TRUE(std::isnan(hedges_correction(1)));
}

}  // namespace
}  // namespace millrace::statistics
