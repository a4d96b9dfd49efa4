#include "src/report/plot/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

std::string labels(const Axis& axis) {
  std::string text;
  for (const AxisTick& tick : axis.ticks()) text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

TEST(AxisTest, TicksAreAtOneTwoOrFive) {
  EXPECT_EQ(labels(Axis(0.03, 0.97, {})), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(labels(Axis(-2.2, 3.9, {})), "\u22124 \u22122 0 2 4");
  EXPECT_EQ(labels(Axis(0, 20, {.ends_at_ticks = false, .whole = true})), "0 5 10 15 20");
  EXPECT_EQ(labels(Axis(0, 2, {.ticks = 8, .whole = true})), "0 1 2") << "no half steps";
  const Axis tenths(0, 0.5, {});
  EXPECT_EQ(tenths.ticks()[3].at, 0.3) << "the decimal itself, not three times a tenth";
}

TEST(AxisTest, LargeAndSmallNumbersShareAPowerOfTen) {
  const Axis large(0, 3e6, {});
  EXPECT_EQ(labels(large), "0 1 2 3");
  EXPECT_EQ(large.factor(), " (\u00D710\u2076)");
  EXPECT_EQ(Axis(0, 2e-5, {}).factor(), " (\u00D710\u207B\u2075)");
  EXPECT_EQ(Axis(0, 0.05, {}).factor(), "");
}

// An axis has ticks in order within its ends, and places between 0 and 1, for any input.
TEST(AxisTest, NoInputLeavesAPlaceThatIsNotFinite) {
  const double values[] = {kNaN,      kInf,          -kInf,   0,     -0.0,   1,      -1,
                           5,         1e-300,        -1e-300, 1e300, -1e300, 5e-324, std::numeric_limits<double>::max(),
                           1 + 1e-15, 123456789.123, 1e-12};
  for (const double low : values) {
    for (const double high : values) {
      for (const AxisScale scale : {AxisScale::linear, AxisScale::log10}) {
        for (const bool at_ticks : {false, true}) {
          const Axis axis(low, high, {.scale = scale, .ends_at_ticks = at_ticks});
          SCOPED_TRACE(testing::Message() << low << ' ' << high << (scale == AxisScale::log10 ? " log" : ""));
          EXPECT_LT(axis.low(), axis.high());
          EXPECT_TRUE(std::isfinite(axis.low()) && std::isfinite(axis.high()));
          EXPECT_LE(axis.ticks().size(), 16u);
          double before = -kInf;
          for (const AxisTick& tick : axis.ticks()) {
            EXPECT_GT(tick.at, before);
            before = tick.at;
            EXPECT_GE(tick.at, axis.low());
            EXPECT_LE(tick.at, axis.high());
            EXPECT_FALSE(tick.label.empty());
          }
          for (const double value : values) {
            EXPECT_GE(axis.place(value), 0);
            EXPECT_LE(axis.place(value), 1);
          }
        }
      }
    }
  }
}

TEST(AxisTest, EqualEndsAreMovedApart) {
  const Axis seven(7, 7, {});
  EXPECT_LT(seven.low(), 7);
  EXPECT_GT(seven.high(), 7);
  EXPECT_NEAR(seven.place(7), 0.5, 0.15);
  EXPECT_EQ(labels(Axis(3, 3, {.ends_at_ticks = false, .whole = true})), "3") << "there is no other step";
}

TEST(AxisTest, DecadesHaveTheirPlaces) {
  const Axis axis(1, 1000, {.scale = AxisScale::log10});
  EXPECT_EQ(labels(axis), "1 10 100 1,000");
  EXPECT_NEAR(axis.place(10), 1.0 / 3, 1e-12);
  EXPECT_FALSE(axis.can_show(0));
  EXPECT_FALSE(axis.can_show(-5));
  EXPECT_EQ(labels(Axis(2e-9, 3e-2, {.scale = AxisScale::log10})),
            "10\u207B\u2079 10\u207B\u2077 10\u207B\u2075 10\u207B\u00B3 10\u207B\u00B9");
  EXPECT_EQ(labels(Axis(1, 40, {.scale = AxisScale::log10})), "1 2 5 10 20 50");
}

TEST(RangeTest, OnlyWhatCanBeShownCounts) {
  ValueRange range(AxisScale::log10);
  EXPECT_TRUE(std::isnan(range.low()));
  range.add({kNaN, kInf, 0, -3, 4, 2});
  EXPECT_EQ(range.low(), 2);
  EXPECT_EQ(range.high(), 4);
}

}  // namespace
}  // namespace millrace::report
