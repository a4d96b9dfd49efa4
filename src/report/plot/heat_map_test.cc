#include "src/report/plot/heat_map.h"

#include <gtest/gtest.h>

#include "src/base/error.h"
#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

HeatMap map_of(std::size_t rows, std::size_t columns, double value) {
  HeatMap map;
  map.title = "A map";
  map.row_title = "row";
  map.value_title = "value";
  for (std::size_t r = 0; r < rows; ++r) map.rows.push_back("r" + std::to_string(r));
  for (std::size_t c = 0; c < columns; ++c) map.columns.push_back("c" + std::to_string(c));
  map.values.assign(rows * columns, value);
  return map;
}

TEST(HeatMapTest, NumbersStandInCellsThatHaveRoom) {
  HeatMap map = map_of(2, 3, 0.25);
  map.values[1] = -0.5;
  const Figure roomy = draw(map);
  expect_sound(roomy);
  EXPECT_NE(roomy.svg.find(">.25</text>"), std::string::npos);
  EXPECT_NE(roomy.svg.find(">\u2212.50</text>"), std::string::npos);
  EXPECT_EQ(roomy.numbers.rows[0][2], "\u22120.500");
  const Figure tight = draw(map_of(2, 120, 0.25));
  expect_sound(tight);
  EXPECT_EQ(tight.svg.find(">.25</text>"), std::string::npos);
}

TEST(HeatMapTest, AnAbsentNumberHasAShadeOfItsOwn) {
  HeatMap map = map_of(2, 2, 1);
  map.values[3] = kNaN;
  const Figure figure = draw(map);
  expect_sound(figure);
  EXPECT_NE(figure.svg.find("r1, c1: absent"), std::string::npos);
  EXPECT_NE(figure.svg.find(">absent</text>"), std::string::npos);
  EXPECT_EQ(draw(map_of(2, 2, 1)).svg.find("absent"), std::string::npos);
}

TEST(HeatMapTest, MarksAreExplained) {
  HeatMap map = map_of(2, 2, 1);
  map.marks = {false, true, false, false};
  map.mark_meaning = "p \u2264 0.05";
  const Figure figure = draw(map);
  expect_sound(figure);
  EXPECT_NE(figure.svg.find("r0, c1: 1.00 (p \u2264 0.05)"), std::string::npos);
  EXPECT_EQ(figure.numbers.rows[0][2], "1.00 •");
  EXPECT_EQ(figure.numbers.note, "•: p \u2264 0.05");
}

TEST(HeatMapTest, DivergingShadesHaveZeroInTheirMiddle) {
  HeatMap map = map_of(1, 2, 0);
  map.values[1] = 3;
  map.shades = Shades::diverging;
  const Figure figure = draw(map);
  EXPECT_NE(figure.svg.find("fill=\"#f7f7f5\"><title>r0, c0: 0<"), std::string::npos);
  EXPECT_NE(figure.svg.find("fill=\"#9a4a00\"><title>r0, c1: 3.00<"), std::string::npos);
}

TEST(HeatMapTest, WhateverNumbersComeThereAreOnlyFinitePlaces) {
  for (const double odd : {kNaN, kInf, -kInf, 1e300, -1e300, 5e-324, 0.0}) {
    for (const Shades shades : {Shades::diverging, Shades::sequential}) {
      HeatMap map = map_of(2, 2, odd);
      map.shades = shades;
      expect_sound(draw(map));
      map.values[0] = 1;
      expect_sound(draw(map));
    }
  }
  expect_sound(draw(map_of(0, 0, 0)));
}

TEST(HeatMapTest, TheLargestStaysSmall) {
  HeatMap map = map_of(128, 128, 0);
  for (std::size_t i = 0; i < map.values.size(); ++i) map.values[i] = static_cast<double>(i % 251);
  const Figure figure = draw(map);
  expect_sound(figure);
  EXPECT_LT(figure.svg.size(), 700'000u);
  EXPECT_LT(figure.numbers.rows.size(), map.rows.size());
  EXPECT_NE(figure.numbers.note, "");
}

TEST(HeatMapTest, ATriangleHasNoDiagonal) {
  HeatMap map = map_of(3, 3, 0.5);
  map.triangle = true;
  const Figure figure = draw(map);
  expect_sound(figure);
  EXPECT_NE(figure.svg.find("r2, c1:"), std::string::npos);
  EXPECT_EQ(figure.svg.find("r1, c1:"), std::string::npos);
  EXPECT_EQ(figure.svg.find("r1, c2:"), std::string::npos);
}

TEST(HeatMapTest, NamesAreEscapedAndLengthsChecked) {
  HeatMap map = map_of(2, 2, 1);
  map.rows[0] = map.columns[1] = map.title = map.value_title = kHostileName;
  expect_sound(draw(map));
  EXPECT_EQ(draw(map).svg, draw(map).svg);
  map.values.pop_back();
  EXPECT_THROW(draw(map), Failure);
}

}  // namespace
}  // namespace millrace::report
