#include "src/report/plot/line_plot.h"

#include <gtest/gtest.h>

#include "src/report/plot/figure_for_test.h"
#include "src/report/plot/numbers_for_test.h"

namespace millrace::report {
namespace {

LinePlot plot_of(std::vector<std::vector<double>> lines) {
  LinePlot plot;
  plot.title = "A plot";
  plot.x_title = "step";
  plot.panels = {{"a metric", "unit", {}}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    plot.names.push_back("group " + std::to_string(i));
    plot.panels[0].lines.push_back({lines[i], {}, {}});
  }
  for (std::size_t i = 0; !lines.empty() && i < lines[0].size(); ++i) plot.x.push_back(static_cast<double>(i));
  return plot;
}

TEST(LinePlotTest, NamesStandAtTheEndsOfLinesThatAreApart) {
  const Figure apart = draw(plot_of({{0, 0}, {1, 1}}));
  expect_sound(apart);
  EXPECT_EQ(count_of(apart.svg, ">group 0</text>"), 1u);
  // Twelve lines at the same place have a legend, in rows that are within the picture.
  const Figure together = draw(plot_of(std::vector<std::vector<double>>(12, {1, 1})));
  expect_sound(together);
  EXPECT_EQ(count_of(together.svg, ">group 11</text>"), 1u);
}

TEST(LinePlotTest, AGapIsAGap) {
  const Figure figure = draw(plot_of({{1, 2, kNaN, 2, 1}}));
  expect_sound(figure);
  EXPECT_NE(figure.numbers.rows[2][1], figure.numbers.rows[1][1]);
  EXPECT_EQ(figure.numbers.rows[2][1], "\u2013");
  // The path has two runs.
  const std::size_t path = figure.svg.find("stroke-linejoin");
  const std::string d = figure.svg.substr(path, figure.svg.find("/>", path) - path);
  EXPECT_EQ(count_of(d, "M"), 2u);
}

TEST(LinePlotTest, OneStepIsMarksWithTheirIntervals) {
  LinePlot plot = plot_of({{1}, {2}});
  plot.panels[0].lines[0].low = {0.5};
  plot.panels[0].lines[0].high = {1.5};
  const Figure figure = draw(plot);
  expect_sound(figure);
  EXPECT_NE(figure.svg.find(">0</text>"), std::string::npos) << "the one step";
  EXPECT_EQ(
      figure.svg.find(">1</text>") != std::string::npos && figure.svg.find(">\u22121</text>") != std::string::npos,
      false)
      << "steps that there are not";
  EXPECT_EQ(figure.numbers.rows[0][2], "[0.5000, 1.500]");
}

TEST(LinePlotTest, WhateverNumbersComeThereAreOnlyFinitePlaces) {
  for (const double odd : {kNaN, kInf, -kInf, 1e300, -1e300, 5e-324, 0.0}) {
    for (const AxisScale scale : {AxisScale::linear, AxisScale::log10}) {
      LinePlot plot = plot_of({{odd, 1, odd}, {odd, odd, odd}});
      plot.y_scale = plot.x_scale = scale;
      plot.panels[0].lines[0].low = {odd, odd, 0};
      plot.panels[0].lines[0].high = {odd, kInf, 1};
      expect_sound(draw(plot));
    }
  }
  expect_sound(draw(LinePlot{}));
  expect_sound(draw(plot_of({})));
}

TEST(LinePlotTest, WithoutAnyNumberANoteIsShown) {
  EXPECT_NE(draw(plot_of({{kNaN, kNaN}})).svg.find("no values"), std::string::npos);
  EXPECT_EQ(draw(plot_of({{kNaN, 1}})).svg.find("no values"), std::string::npos);
}

TEST(LinePlotTest, PanelsShareTheirSteps) {
  LinePlot plot = plot_of({{1, 2, 3}, {3, 2, 1}});
  plot.panels.resize(7, plot.panels[0]);
  const Figure figure = draw(plot);
  expect_sound(figure);
  EXPECT_EQ(count_of(figure.svg, ">step</text>"), 3u) << "below each column";
  EXPECT_EQ(figure.numbers.columns[0].title, "panel");
  EXPECT_EQ(figure.numbers.rows.size(), 21u);
  EXPECT_EQ(count_of(figure.svg, ">group 0</text>"), 1u) << "one legend";
}

TEST(LinePlotTest, ManyRowsAreCutWithANote) {
  LinePlot plot = plot_of({std::vector<double>(1000, 1.0)});
  const Figure figure = draw(plot);
  expect_sound(figure);
  EXPECT_EQ(figure.numbers.rows.size(), kMaxNumberRows);
  EXPECT_EQ(figure.numbers.note, "Only the first 400 of 1,000 rows are shown.");
}

TEST(LinePlotTest, TheSameBytesForTheSameNumbersAndNamesEscaped) {
  LinePlot plot = plot_of({{1, 2}, {2, 1}});
  plot.names[0] = plot.title = plot.panels[0].title = plot.panels[0].y_title = kHostileName;
  const Figure figure = draw(plot);
  expect_sound(figure);
  EXPECT_EQ(figure.svg, draw(plot).svg);
}

}  // namespace
}  // namespace millrace::report
