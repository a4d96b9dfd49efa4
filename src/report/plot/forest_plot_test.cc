#include "src/report/plot/forest_plot.h"

#include <gtest/gtest.h>

#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

ForestPlot effects_of(std::vector<ForestPlotRow> rows) {
  ForestPlot effects;
  effects.title = "Effects";
  effects.value_title = "difference";
  effects.mark_meaning = "p \u2264 0.05";
  effects.rows = std::move(rows);
  return effects;
}

TEST(EffectsTest, ARowHasItsIntervalAndItsWords) {
  const Figure figure =
      draw(effects_of({{"one", "", 1, 0.5, 1.5, true, "p = 0.003"}, {"two", "", -1, -2, 0.5, false, "p = 0.4"}}));
  expect_sound(figure);
  EXPECT_NE(figure.svg.find("one: 1.00 [0.500, 1.50], p = 0.003"), std::string::npos);
  EXPECT_EQ(count_of(figure.svg, "class=\"hollow\""), 2u) << "the second one, and in the legend";
  EXPECT_NE(figure.svg.find(">p \u2264 0.05</text>"), std::string::npos);
  EXPECT_EQ(figure.numbers.rows[1][1], "\u22121.000");
}

TEST(EffectsTest, ZeroIsInSightUnlessThereIsNoLine) {
  ForestPlot effects = effects_of({{"one", "", 100, 99, 101, true, ""}});
  EXPECT_NE(draw(effects).svg.find(">0</text>"), std::string::npos);
  effects.line_at = kNaN;
  EXPECT_EQ(draw(effects).svg.find(">0</text>"), std::string::npos);
}

TEST(EffectsTest, AbsentValuesAreListed) {
  const Figure figure =
      draw(effects_of({{"one", "", kNaN, kNaN, kNaN, true, ""}, {"two", "", 1, kNaN, kNaN, true, ""}}));
  expect_sound(figure);
  EXPECT_EQ(count_of(figure.svg, ">absent</text>"), 1u);
  EXPECT_NE(figure.svg.find("<title>two: 1.00</title>"), std::string::npos) << "without an interval that there is not";
}

TEST(EffectsTest, WhateverNumbersComeThereAreOnlyFinitePlaces) {
  for (const double odd : {kNaN, kInf, -kInf, 1e300, -1e300, 5e-324, 0.0}) {
    expect_sound(draw(effects_of({{kHostileName, kHostileName, odd, -odd, kInf, false, kHostileName},
                                  {"two", "", odd, odd, odd, true, "", 3}})));
  }
  expect_sound(draw(effects_of({})));
}

}  // namespace
}  // namespace millrace::report
