#include "src/report/plot/scatter_plot.h"

#include <gtest/gtest.h>

#include "src/base/error.h"
#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

ScatterPlot scatter_of(std::vector<std::array<double, 2>> points) {
  ScatterPlot scatter;
  scatter.title = "Points";
  scatter.names = {"a", "b"};
  for (std::size_t i = 0; i < points.size(); ++i) scatter.group.push_back(i % 2);
  scatter.points = std::move(points);
  return scatter;
}

TEST(ScatterTest, GroupsHaveMeansAndSpreadsWhereThereAreEnoughPoints) {
  const Figure figure = draw(scatter_of({{0, 0}, {5, 5}, {1, 0}, {6, 5}, {0, 1}, {5, 6}}));
  expect_sound(figure);
  EXPECT_NE(figure.svg.find("a: mean of 3"), std::string::npos);
  EXPECT_EQ(count_of(figure.svg, "fill-opacity"), 2u) << "two ellipses";
  const Figure few = draw(scatter_of({{0, 0}, {5, 5}, {1, 0}, {6, 5}}));
  EXPECT_EQ(count_of(few.svg, "fill-opacity"), 0u) << "no spread of two points";
  const Figure one = draw(scatter_of({{0, 0}}));
  expect_sound(one);
  EXPECT_EQ(one.svg.find("mean of"), std::string::npos);
}

TEST(ScatterTest, APointWithoutAPlaceIsCounted) {
  const Figure figure = draw(scatter_of({{0, 0}, {kNaN, 1}, {1, kInf}, {2, 2}}));
  expect_sound(figure);
  EXPECT_EQ(figure.numbers.note, "Points that lack a number are not drawn: 2.");
  EXPECT_EQ(figure.numbers.rows.size(), 4u);
}

TEST(ScatterTest, WhateverNumbersComeThereAreOnlyFinitePlaces) {
  for (const double odd : {1e300, -1e300, 5e-324, 0.0, kNaN}) {
    for (const bool equal : {false, true}) {
      ScatterPlot scatter = scatter_of({{odd, 0}, {0, odd}, {odd, odd}, {1, 1}, {-odd, 1}, {odd, -odd}});
      scatter.equal_units = equal;
      expect_sound(draw(scatter));
    }
  }
  expect_sound(draw(scatter_of({})));
}

TEST(ScatterTest, NamesAreEscapedAndGroupsChecked) {
  ScatterPlot scatter = scatter_of({{0, 0}, {1, 1}});
  scatter.names[0] = scatter.x_title = kHostileName;
  scatter.point_names = {kHostileName, "b"};
  expect_sound(draw(scatter));
  EXPECT_EQ(draw(scatter).svg, draw(scatter).svg);
  scatter.group[1] = 2;
  EXPECT_THROW(draw(scatter), Failure);
}

}  // namespace
}  // namespace millrace::report
