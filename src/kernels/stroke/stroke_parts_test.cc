// Tests of steep charts: rows that only one leg crosses, joints between legs, and cells among both.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/kernels/kernel_test.h"
#include "src/kernels/stroke/stroke.h"

namespace millrace::stroke {
namespace {

using Line = std::vector<StrokePoint>;

Line noise(std::size_t points, double width, double height, std::mt19937& random) {
  std::uniform_real_distribution<double> y(0, height - 1);
  Line out;
  for (std::size_t i = 0; i < points; ++i) {
    out.push_back({static_cast<double>(i) * (width - 1) / static_cast<double>(points - 1), y(random)});
  }
  return out;
}

// Returns legs of any slope, including vertical and almost vertical ones, and points on pixel borders.
Line irregular(double width, double height, std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  Line out;
  for (double x = -3; x < width + 3;) {
    const double y = share(random) * height;
    out.push_back({x, random() % 4 > 0 ? y : std::floor(y) + 0.5});
    constexpr double kSteps[] = {0, 1e-7, 0.3, 1, 4, 20};
    x += kSteps[random() % 6] * (random() % 2 == 0 ? 1 : share(random));
  }
  return out;
}

rle::Image drawn(const Line& line, double line_width, int width, int height) {
  Rasterizer rasterizer(width, height, line_width);
  rasterizer.line(line);
  rle::Image picture;
  rasterizer.finish(picture);
  return picture;
}

std::vector<std::uint8_t> painted(const rle::Image& picture) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(picture.width()) * static_cast<std::size_t>(picture.height()));
  rle::paint(picture, rle::gray_table(0, 255), out.data());
  return out;
}

TEST(StrokeParts, RunsGoFromLeftToRightAndDoNotOverlap) {
  std::mt19937 random(11);
  for (const double line_width : {0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 12.0}) {
    for (int i = 0; i < 40; ++i) {
      const int width = 30 + static_cast<int>(random() % 300), height = 20 + static_cast<int>(random() % 300);
      const Line line = i % 2 == 0 ? irregular(width, height, random) : noise(2 + random() % 60, width, height, random);
      const rle::Image picture = drawn(line, line_width, width, height);
      for (int y = 0; y < height; ++y) {
        int end = 0;
        std::size_t literals = 0;
        for (const rle::PixelRun& run : picture.row(y)) {
          ASSERT_GE(run.x, end) << "row " << y;
          ASSERT_GT(run.literals + run.repeats, 0) << "row " << y;
          end = run.x + run.literals + run.repeats;
          literals += run.literals;
        }
        ASSERT_LE(end, width) << "row " << y;
        if (y + 1 < height) {
          ASSERT_EQ(picture.levels(y) + literals, picture.levels(y + 1));
        }
      }
    }
  }
}

TEST(StrokeParts, SteepLinesCoverWhatTheirStrokesUnionCovers) {
  std::mt19937 random(5);
  constexpr int kWidth = 50, kHeight = 160, kSamples = 64;
  for (const double line_width : {0.5, 1.0, 3.0, 4.0}) {
    for (int i = 0; i < 6; ++i) {
      const Line line =
          i % 2 == 0 ? irregular(kWidth, kHeight, random) : noise(4 + random() % 9, kWidth, kHeight, random);
      const auto levels = painted(drawn(line, line_width, kWidth, kHeight));
      const std::vector<Line> lines = {line};
      const auto truth = coverage_reference(lines, line_width, kWidth, kHeight, kSamples);
      double worst = 0;
      for (std::size_t k = 0; k < levels.size(); ++k) worst = std::max(worst, std::fabs(levels[k] - 255 * truth[k]));
      EXPECT_LE(worst, 255.0 / kSamples + 1) << "width " << line_width << ", line " << i;
    }
  }
}

TEST(StrokeParts, AreTheSameAtEveryCpuLevel) {
  std::mt19937 random(17);
  for (const double line_width : {0.4, 1.0, 3.0, 5.5}) {
    for (int i = 0; i < 12; ++i) {
      const int width = 40 + static_cast<int>(random() % 400), height = 40 + static_cast<int>(random() % 400);
      const Line line = i % 2 == 0 ? irregular(width, height, random) : noise(30, width, height, random);
      const auto expected = painted(drawn(line, line_width, width, height));
      at_every_cpu_level([&] { EXPECT_TRUE(painted(drawn(line, line_width, width, height)) == expected); });
    }
  }
}

TEST(StrokeParts, LinesMayComeInAnyOrder) {
  std::mt19937 random(29);
  constexpr int kWidth = 60, kHeight = 120, kSamples = 64;
  std::vector<Line> lines;
  for (const double left : {40.0, 0.0, 20.0}) {
    lines.push_back(noise(5, 12, kHeight, random));
    for (StrokePoint& p : lines.back()) p.x += left + 2;
  }
  Rasterizer rasterizer(kWidth, kHeight, 3);
  for (const Line& line : lines) rasterizer.line(line);
  rle::Image picture;
  rasterizer.finish(picture);
  const auto levels = painted(picture);
  const auto truth = coverage_reference(lines, 3, kWidth, kHeight, kSamples);
  for (std::size_t k = 0; k < levels.size(); ++k) ASSERT_NEAR(levels[k], 255 * truth[k], 255.0 / kSamples + 1) << k;
}

// Tests more rows of legs than are listed at once. Each section drawn separately must be the same image, except for the
// rounding of a leg's begin.
TEST(StrokeParts, ManyRowsAreListedInStrips) {
  std::mt19937 random(23);
  constexpr int kWidth = 2000, kHeight = 1600, kPart = 100;
  const Line line = noise(250, kWidth, kHeight, random);
  const auto all = painted(drawn(line, 3, kWidth, kHeight));
  for (const int top : {0, 777, kHeight - kPart}) {
    Line moved = line;
    for (StrokePoint& p : moved) p.y -= top;
    const auto part = painted(drawn(moved, 3, kWidth, kPart));
    int worst = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      worst = std::max(worst, std::abs(part[i] - all[i + static_cast<std::size_t>(top) * kWidth]));
    }
    EXPECT_LE(worst, 1) << "from row " << top;
  }
}

}  // namespace
}  // namespace millrace::stroke
