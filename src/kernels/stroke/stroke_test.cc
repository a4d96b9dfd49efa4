#include "src/kernels/stroke/stroke.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace millrace::stroke {
namespace {

using Lines = std::vector<std::vector<StrokePoint>>;

std::vector<std::uint8_t> drawn(Rasterizer& rasterizer, const Lines& lines, int width, int height) {
  for (const auto& line : lines) rasterizer.line(line);
  rle::Image picture;
  rasterizer.finish(picture);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  rle::paint(picture, rle::gray_table(0, 255), out.data());
  return out;
}

// The reference measures 512 columns of a pixel: a vertical edge is off by half a column.
constexpr int kColumns = 512;
constexpr double kReferenceError = 255.0 / (2 * kColumns);

void expect_exact(const Lines& lines, double line_width, int width, int height, const char* what) {
  Rasterizer rasterizer(width, height, line_width);
  const auto levels = drawn(rasterizer, lines, width, height);
  const auto truth = column_reference(lines, line_width, width, height, kColumns);
  double worst = 0, sum = 0;
  std::size_t worst_at = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double off = std::fabs(levels[i] - 255 * truth[i]);
    sum += off;
    if (off > worst) {
      worst = off;
      worst_at = i;
    }
  }
  EXPECT_LE(worst, kReferenceError + 1) << what << ", width " << line_width << ", at ("
                                        << worst_at % static_cast<std::size_t>(width) << ", "
                                        << worst_at / static_cast<std::size_t>(width) << "): drawn "
                                        << int(levels[worst_at]) << ", true " << 255 * truth[worst_at];
  EXPECT_LE(sum / static_cast<double>(levels.size()), 0.1) << what;
}

std::vector<StrokePoint> series(std::size_t n, int width, int height, std::mt19937& random, double roughness) {
  std::vector<double> values(n);
  std::normal_distribution<double> step;
  double level = 0;
  for (double& v : values) v = level = level * (1 - roughness) + step(random);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double bottom = *low, range = std::max(1e-9, *high - *low);
  std::vector<StrokePoint> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = n == 1 ? 0 : static_cast<double>(i) * (width - 1) / static_cast<double>(n - 1);
    out.push_back({x, (1 - (values[i] - bottom) / range) * (height - 1)});
  }
  return out;
}

TEST(Stroke, SeriesCoverWhatTheirStrokesUnionCovers) {
  std::mt19937 random(7);
  for (const double line_width : {1.0, 1.7, 3.0, 5.0, 12.0}) {
    for (const std::size_t n : {2U, 3U, 10U, 40U, 97U, 400U}) {
      expect_exact({series(n, 97, 61, random, 0.05)}, line_width, 97, 61, "random walk");
      expect_exact({series(n, 97, 61, random, 1)}, line_width, 97, 61, "noise");
    }
  }
}

TEST(Stroke, SteepFlatAndLevelLines) {
  for (const double line_width : {1.0, 2.0, 3.0, 7.5, 12.0}) {
    expect_exact({{{0, 20}, {59, 20}}}, line_width, 60, 40, "level");
    expect_exact({{{0, 20.37}, {59, 20.37}}}, line_width, 60, 40, "level between pixels");
    expect_exact({{{0, 18.5}, {59, 19.1}}}, line_width, 60, 40, "nearly level");
    expect_exact({{{30, 2}, {30, 37}}}, line_width, 60, 40, "upright");
    expect_exact({{{30, 2}, {30.4, 37}, {30.7, 3}, {31, 36}}}, line_width, 60, 40, "over itself");
    expect_exact({{{5, 5}, {50, 35}}}, line_width, 60, 40, "slope");
    expect_exact({{{5, 35}, {50, 5}, {51, 5}, {52, 35}}}, line_width, 60, 40, "a peak");
    expect_exact({{{30, 20}}}, line_width, 60, 40, "a dot");
    expect_exact({{{30, 20}, {30, 20}, {30, 20}}}, line_width, 60, 40, "a dot, three times");
    expect_exact({{{-30, -20}, {90, 60}}}, line_width, 60, 40, "from beyond to beyond");
    expect_exact({{{-5, 10}, {-2, 30}, {3, 12}, {57, 14}, {66, 30}, {80, 2}}}, line_width, 60, 40, "beyond both sides");
  }
}

TEST(Stroke, LinesThatTurnBackOrCross) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> x(-5, 65), y(-5, 45);
  for (const double line_width : {1.0, 3.0, 6.3, 12.0}) {
    for (int i = 0; i < 6; ++i) {
      std::vector<StrokePoint> line;
      for (int k = 0; k < 7; ++k) line.push_back({x(random), y(random)});
      expect_exact({line}, line_width, 60, 40, "any way");
    }
    expect_exact({{{55, 20}, {40, 8}, {5, 30}}}, line_width, 60, 40, "to the left");
    expect_exact({{{5, 5}, {55, 35}}, {{5, 35}, {55, 5}}}, line_width, 60, 40, "two lines across");
    expect_exact({{{5, 5}, {25, 20}}, {{26, 20}, {55, 5}}}, line_width, 60, 40, "a short gap");
    expect_exact({{{5, 5}, {15, 20}}, {{46, 20}, {55, 5}}}, line_width, 60, 40, "a long gap");
  }
}

TEST(Stroke, UprightLegsAmongOthers) {
  for (const double line_width : {1.0, 3.0, 12.0}) {
    expect_exact({{{22, 11}, {22, 13}, {23, 6}}}, line_width, 60, 40, "up after down");
    expect_exact({{{11, 5}, {12, 0}, {12, 3}, {12, 30}, {40, 31}}}, line_width, 60, 40, "down after up");
    expect_exact({{{11, 5}, {11 + 1e-13, 25}, {11 + 2e-13, 2}, {30, 20}}}, line_width, 60, 40, "almost upright");
  }
}

// A smooth line must look the same for any number of points on it.
TEST(Stroke, ManyPointsOnOneLine) {
  const auto ramp = [](int points, double height) {
    std::vector<StrokePoint> line;
    for (int i = 0; i < points; ++i) line.push_back({2.0 * i / (points - 1), height * (1 - 1.0 * i / (points - 1))});
    return line;
  };
  for (const double height : {2.0, 9.0, 99.0}) {
    Rasterizer rasterizer(3, static_cast<int>(height) + 1, 0.5);
    const auto expected = drawn(rasterizer, {ramp(2, height)}, 3, static_cast<int>(height) + 1);
    for (const int points : {1000, 100'000, 1 << 20}) {
      const auto many = drawn(rasterizer, {ramp(points, height)}, 3, static_cast<int>(height) + 1);
      int worst = 0;
      for (std::size_t i = 0; i < many.size(); ++i) worst = std::max(worst, std::abs(many[i] - expected[i]));
      EXPECT_LE(worst, 1) << points << " points, " << height << " high";
    }
  }
}

TEST(Stroke, PointsFarAwayAreRefused) {
  Rasterizer rasterizer(60, 40, 3);
  EXPECT_THROW(rasterizer.line(std::vector<StrokePoint>{{0, 0}, {1e5, 3}}), std::exception);
  EXPECT_THROW(rasterizer.line(std::vector<StrokePoint>{{0, std::nan("")}}), std::exception);
  expect_exact({{{-7000, -6000}, {23000, 20000}}}, 5, 60, 40, "from far to far");
}

TEST(Stroke, APenForgetsItsLastPicture) {
  Rasterizer rasterizer(60, 40, 3);
  const Lines first = {{{0, 3}, {20, 39}, {59, 0}}}, second = {{{0, 20}, {59, 21}}};
  Rasterizer fresh(60, 40, 3);
  const auto expected = drawn(fresh, second, 60, 40);
  drawn(rasterizer, first, 60, 40);
  EXPECT_EQ(drawn(rasterizer, second, 60, 40), expected);
  EXPECT_EQ(drawn(rasterizer, {}, 60, 40), std::vector<std::uint8_t>(60 * 40, 0));
}

// Two definitions of coverage must agree: points within half a width, and lengths along vertical lines.
TEST(Stroke, ReferencesAgree) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> at(-4, 34);
  for (const double line_width : {0.4, 1.0, 3.0, 9.0}) {
    Lines lines(2);
    for (auto& line : lines) {
      for (int i = 0; i < 5; ++i) line.push_back({at(random), at(random)});
    }
    lines.push_back({{7.3, 21.8}});
    const auto points = coverage_reference(lines, line_width, 30, 30, 64);
    const auto columns = column_reference(lines, line_width, 30, 30, kColumns);
    for (std::size_t k = 0; k < points.size(); ++k) ASSERT_NEAR(points[k], columns[k], 1.5 / 64) << k;
  }
}

}  // namespace
}  // namespace millrace::stroke
