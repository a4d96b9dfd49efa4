#include "src/report/plot/svg.h"

#include <gtest/gtest.h>

#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

TEST(SvgTest, PlacesHaveAtMostOneDecimal) {
  EXPECT_EQ(format_coordinate(12), "12");
  EXPECT_EQ(format_coordinate(12.34), "12.3");
  EXPECT_EQ(format_coordinate(-0.06), "-0.1");
  EXPECT_EQ(format_coordinate(-0.04), "0");
  EXPECT_EQ(format_coordinate(kNaN), "0");
  EXPECT_EQ(format_coordinate(-kInf), "0");
  EXPECT_EQ(format_coordinate(1e300), "1000000");
}

TEST(SvgTest, WhatHasNoPlaceIsNotDrawn) {
  Svg svg(100, "t", "d");
  svg.line({0, kNaN}, {1, 1}, Foreground::grid);
  svg.text({kInf, 0}, "nowhere", {});
  svg.mark({kNaN, kNaN}, MarkerShape::circle, 3);
  svg.path({{kNaN, 1}, {1, kInf}}, {});
  svg.band({{0, 0}, {1, kNaN}}, {{0, 1}, {1, 1}}, 0.1);
  svg.closed({{0, 0}, {kNaN, 1}}, 0.1);
  const std::string text = svg.finish(50);
  expect_sound_svg(text);
  EXPECT_EQ(count_of(text, "<path") + count_of(text, "<text") + count_of(text, "<circle"), 0u);
}

TEST(SvgTest, APathHasGaps) {
  Svg svg(100, "t", "");
  svg.path({{0, 0}, {1, 0}, {kNaN, kNaN}, {3, 0}, {kNaN, 0}, {5, 0}, {6, 0}}, {});
  EXPECT_NE(svg.finish(10).find("d=\"M0,0L1,0M5,0L6,0\""), std::string::npos) << "a point alone has no line";
}

TEST(SvgTest, NamesOfStrangersStayWords) {
  Svg svg(100, kHostileName, kHostileName);
  svg.text({0, 0}, kHostileName, {}, kHostileName);
  svg.heading({0, 0}, kHostileName, kHostileName, kHostileName);
  svg.open_series(0, kHostileName);
  svg.mark({1, 1}, MarkerShape::cross, 2, false, kHostileName);
  svg.close();
  svg.box({0, 0}, 1, 1, "#000000", kHostileName);
  const std::string text = svg.finish(10);
  expect_sound_svg(text);
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("</script"), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
}

TEST(PaletteTest, TheFirstThirtyFiveStylesDiffer) {
  for (std::size_t a = 0; a < 35; ++a) {
    for (std::size_t b = a + 1; b < 35; ++b) {
      EXPECT_FALSE(colour_of(a) == colour_of(b) && dash_of(a) == dash_of(b)) << a << " and " << b;
    }
  }
}

TEST(PaletteTest, ShadesGoFromEndToEnd) {
  EXPECT_EQ(shade(Shades::diverging, 0), "#0a4a86");
  EXPECT_EQ(shade(Shades::diverging, 0.5), "#f7f7f5");
  EXPECT_EQ(shade(Shades::diverging, 7), "#9a4a00");
  EXPECT_EQ(shade(Shades::sequential, -1), "#f7f7f5");
  EXPECT_EQ(shade(Shades::sequential, 1), "#0a2f5c");
  EXPECT_TRUE(is_dark(shade(Shades::sequential, 1)));
  EXPECT_FALSE(is_dark(shade(Shades::sequential, 0)));
}

}  // namespace
}  // namespace millrace::report
