#include "src/report/number_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(NumbersTest, SignificantDigits) {
  EXPECT_EQ(format_number(0.81), "0.810");
  EXPECT_EQ(format_number(-12.345), "\u221212.3");
  EXPECT_EQ(format_number(9.996), "10.0");
  EXPECT_EQ(format_number(1234.5), "1,234");
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(0.000123), "0.000123");
  EXPECT_EQ(format_number(1.234e-5), "1.23\u00D710\u207B\u2075");
  EXPECT_EQ(format_number(-1e300), "\u22121.00\u00D710\u00B3\u2070\u2070");
  EXPECT_EQ(format_number(5e-324, 2), "4.9\u00D710\u207B\u00B3\u00B2\u2074");
}

TEST(NumbersTest, WhatIsNoNumberHasASignOfItsOwn) {
  EXPECT_EQ(format_number(kNaN), "\u2013");
  EXPECT_EQ(format_number(kInf), "\u221E");
  EXPECT_EQ(format_fixed(-kInf, 2), "\u2212\u221E");
  EXPECT_EQ(format_interval(0.5, kNaN), "\u2013");
  EXPECT_EQ(format_p_value(kNaN, 100), "\u2013");
}

TEST(NumbersTest, DecadesAreThoseOfWhatIsShown) {
  EXPECT_EQ(decade_of(123), 2);
  EXPECT_EQ(decade_of(-0.05), -2);
  EXPECT_EQ(decade_of(999.9, 3), 3);
  EXPECT_EQ(decade_of(999.9), 2);
  EXPECT_EQ(decade_of(1e300), 300);
}

TEST(NumbersTest, FixedDecimals) {
  EXPECT_EQ(format_fixed(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(format_fixed(-0.001, 2), "0.00") << "no minus before what is shown as zero";
  EXPECT_EQ(format_fixed(100, 0), "100");
}

TEST(NumbersTest, PIsNeverBelowWhatPermutationsCanGive) {
  EXPECT_EQ(format_p_with_bound(0.003, 10'000), "p\u00A0=\u00A00.003");
  EXPECT_EQ(format_p_with_bound(1.0 / 10'001, 10'000), "p\u00A0\u2264\u00A00.0001 (10,000 permutations)");
  EXPECT_EQ(format_p_with_bound(1.0 / 1'001, 1'000), "p\u00A0\u2264\u00A00.001 (1,000 permutations)");
  EXPECT_EQ(format_p_with_bound(1, 100), "p\u00A0=\u00A01");
  EXPECT_EQ(format_p_with_bound(1e-12, 0), "p\u00A0<\u00A010\u207B\u2076");
  EXPECT_EQ(format_p_with_bound(0.0504, 10'000), "p\u00A0=\u00A00.0504") << "not 0.05, which it is above";
}

TEST(NumbersTest, ALongTextLosesItsMiddle) {
  EXPECT_EQ(shorten_middle("prompt_000", 10), "prompt_000");
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "abc\u2026hij");
  EXPECT_EQ(shorten_middle("\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9", 5), "\u00E9\u00E9\u2026\u00E9\u00E9");
  EXPECT_EQ(shorten_middle("\xff\xff", 5), "\uFFFD\uFFFD");
  EXPECT_EQ(count_characters("a\u00E9\u2026"), 3u);
}

}  // namespace
}  // namespace millrace::report
