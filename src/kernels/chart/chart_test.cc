// Tests of the definitions in chart.h.
#include "src/kernels/chart/chart.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "src/kernels/chart/chart_indicators.h"
#include "src/kernels/chart/charts_for_test.h"
#include "src/kernels/chart/format.h"
#include "src/kernels/chart/series_painter.h"
#include "src/kernels/rle_deflate/deflate_test_vectors.h"

namespace millrace::chart {
namespace {

// Returns the levels of a chart, row by row.
std::vector<std::uint8_t> levels_of(const ChartSpec& spec, const std::vector<double>& series) {
  rle::ColourTable colours;
  for (std::size_t k = 0; k < colours.size(); ++k) {
    const auto level = static_cast<std::uint8_t>(k);
    colours[k] = {level, level, level};
  }
  const Format format(spec, colours, 1, PixelKind::bytes);
  std::vector<std::uint8_t> out(format.image_bytes());
  SeriesPainters(spec, format).paint({series.data(), false, 1, 0}, Executor(1), out.data());
  return out;
}

TEST(Chart, HalvesAreRoundedToEven) {
  for (const auto& [v, rounded] :
       {std::pair{0.0, 0.0}, std::pair{0.5, 0.0}, std::pair{1.5, 2.0}, std::pair{2.5, 2.0}, std::pair{2.4999, 2.0},
        std::pair{-0.5, 0.0}, std::pair{-1.5, -2.0}, std::pair{7.0, 7.0}}) {
    EXPECT_EQ(round_even(v), rounded) << v;
  }
}

TEST(Chart, AMovingAverageIsOfTheLastClosesAndMissesWhatTheyMiss) {
  ChartWindow window;
  window.rows[kClose] = {3, 4, kGap, 8, 10, 12};
  window.before = {1, 2};
  ChartSpec spec;
  spec.average = 3;
  std::vector<double> out;
  compute_moving_average(spec, window, out);
  ASSERT_EQ(out.size(), 6U);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 3);
  for (const std::size_t missing : {2, 3, 4}) EXPECT_NE(out[missing], out[missing]) << missing;
  EXPECT_EQ(out[5], 10);
  window.before.clear();
  compute_moving_average(spec, window, out);
  EXPECT_NE(out[1], out[1]);
  spec.average = 0;
  compute_moving_average(spec, window, out);
  EXPECT_TRUE(out.empty());
}

// Two days: open 2, high 4, low 0, close 1, and 1, 3, 1, 3. They are drawn in 5 pixel rows: y = trunc((4 - p) (5 - 1) /
// 4).
TEST(Chart, BarsLieWhereTheirPricesAre) {
  const ChartSpec spec{Style::ohlc, false, false, 8, 5, 3, 2, 0};
  const std::vector<std::uint8_t> found = levels_of(spec, {2, 4, 0, 1, 1, 3, 1, 3});
  const std::uint8_t f = kFalling, r = kRising;
  EXPECT_EQ(found, (std::vector<std::uint8_t>{0, f, 0, 0, 0, 0, 0, 0,  //
                                              0, f, 0, 0, 0, r, r, 0,  //
                                              f, f, 0, 0, 0, r, 0, 0,  //
                                              0, f, f, 0, r, r, 0, 0,  //
                                              0, f, 0, 0, 0, 0, 0, 0}));
}

// The same days in jkx style, in 4 of 6 rows, up = round(p (4 - 1) / 4) with halves to even. One row is free. The last
// row has the volumes 40 and 100, of which only the second reaches a pixel.
TEST(Chart, TrendImagesHaveThreeColumnsADayAndVolumeBelow) {
  const ChartSpec spec{Style::jkx, false, true, 6, 6, 3, 2, 0};
  const std::vector<std::uint8_t> found = levels_of(spec, {2, 4, 0, 1, 40, 1, 3, 1, 3, 100});
  const std::uint8_t o = rle::kFull;
  EXPECT_EQ(found, (std::vector<std::uint8_t>{0, o, 0, 0, 0, 0,  //
                                              o, o, 0, 0, o, o,  //
                                              0, o, o, o, o, 0,  //
                                              0, o, 0, 0, 0, 0,  //
                                              0, 0, 0, 0, 0, 0,  //
                                              0, 0, 0, 0, o, 0}));
}

TEST(Chart, ALineRunsFromItsLowestToItsHighestPrice) {
  const ChartSpec spec{Style::line, false, false, 21, 11, 1, 3, 0};
  const std::vector<std::uint8_t> found = levels_of(spec, {5, 7, 5});
  const auto at = [&](int x, int y) { return found[static_cast<std::size_t>(21 * y + x)]; };
  EXPECT_GT(at(0, 10), 0);
  EXPECT_GT(at(10, 0), 0);
  EXPECT_GT(at(20, 10), 0);
  EXPECT_EQ(at(0, 0), 0);
  EXPECT_EQ(at(10, 10), 0);
  // Mirrored prices must give the mirrored line.
  const std::vector<std::uint8_t> turned = levels_of(spec, {7, 5, 7});
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 21; ++x)
      EXPECT_EQ(turned[static_cast<std::size_t>(21 * (10 - y) + x)], at(x, y)) << x << " " << y;
  }
}

// Two charts of the same pixels must have the same stream, for any runs they were drawn with: a device knows only the
// pixels.
TEST(Chart, StreamsDependOnPixelsAlone) {
  std::mt19937_64 random(31);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  for (int kind = 0; kind < 120; ++kind) {
    ChartSpec spec =
        line(1 + below(300), 5 + below(90), 1 + random() % 70, 0.02 * std::pow(1000.0, below(1000) / 999.0));
    spec.style = kind % 4 == 0 ? static_cast<Style>(below(4)) : Style::line;
    spec.volume = below(3) == 0;
    spec.average = below(3) == 0 ? 1 + random() % 9 : 0;
    if (spec.style == Style::ohlc) spec.width = 4 * static_cast<int>(spec.rows);
    if (spec.style == Style::jkx) spec.width = 3 * static_cast<int>(spec.rows);
    SCOPED_TRACE(fmt::format("kind {}: {} x {}, {} rows, {} pixels", kind, spec.width, spec.height, spec.rows,
                             spec.line_pixels));
    const ChartTestVector charts = make_charts(spec, PixelKind::bytes, random(), 0);
    const Format format(spec, rle::colour_table({255, 250, 10}, {3, 40, 200}), kind % 2 == 0 ? 1 : 3, PixelKind::bytes);
    const rle_deflate::StreamLayout layout{format.pixels, kind % 3 == 0, rle_deflate::Wrapper::zlib};
    const rle_deflate::DeflateCode code(rle_deflate::SymbolHistogram(), layout);
    SeriesPainters(spec, format).each(charts.array(), Executor(1), [&](std::size_t i, const rle::Image& picture) {
      std::array<std::uint8_t, 256> levels;
      for (std::size_t k = 0; k < levels.size(); ++k) levels[k] = static_cast<std::uint8_t>(k);
      std::vector<std::uint8_t> plane(static_cast<std::size_t>(spec.width) * static_cast<std::size_t>(spec.height));
      rle::paint(picture, levels, plane.data());
      Buffer<std::uint8_t> drawn, of_pixels;
      const auto a = code.compress(picture, drawn);
      const auto b = code.compress(rle_deflate::picture_of(plane.data(), spec.width, spec.height), of_pixels);
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << "chart " << i;
    });
  }
}

}  // namespace
}  // namespace millrace::chart
