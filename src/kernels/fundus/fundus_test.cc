#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "src/kernels/fundus/crop.h"
#include "src/kernels/fundus/enhance.h"

namespace millrace::fundus {
namespace {

// A disc of light with a soft edge.
std::vector<std::uint8_t> disc(std::int32_t width, std::int32_t height, FundusPoint center, double radius,
                               double light = 180, double dark = 4) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  for (std::int32_t y = 0; y < height; ++y)
    for (std::int32_t x = 0; x < width; ++x) {
      const double inside = std::clamp(radius - std::hypot(x - center.x, y - center.y) + 0.5, 0.0, 1.0);
      const std::size_t k = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      for (std::size_t c = 0; c < 3; ++c)
        out[3 * k + c] =
            static_cast<std::uint8_t>(std::lround((dark + (light - dark) * inside) / static_cast<double>(c + 1)));
    }
  return out;
}

struct Case {
  std::int32_t width, height;
  FundusPoint center;
  double radius;
  std::size_t lines;
};

// Fields that are whole, off their middle, clipped at one, two and three sides, and so large that corners alone show
// them.
class FieldOfView : public testing::TestWithParam<Case> {};

TEST_P(FieldOfView, IsFoundToLessThanAStepOfTheRadius) {
  const Case& c = GetParam();
  const auto pixels = disc(c.width, c.height, c.center, c.radius);
  const auto bounds = find_field_bounds(Photograph{pixels.data(), c.width, c.height}.red());
  ASSERT_TRUE(bounds);
  const double step = kStep * std::max(c.width, c.height) / kSide;
  EXPECT_NEAR(bounds->center.x, c.center.x, step);
  EXPECT_NEAR(bounds->center.y, c.center.y, step);
  EXPECT_NEAR(bounds->radius, c.radius, step);
  EXPECT_EQ(bounds->lines.size(), c.lines);
  EXPECT_GT(bounds->explained, 0.9);
  EXPECT_FALSE(bounds->full_frame);
  for (const BoundaryLine& line : bounds->lines) {
    // The middle of the photograph is inside.
    EXPECT_GT(line.normal.x * c.width / 2 + line.normal.y * c.height / 2, line.offset);
    EXPECT_NEAR(std::hypot(line.normal.x, line.normal.y), 1, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FieldOfView,
                         testing::Values(Case{600, 600, {300, 300}, 250, 0}, Case{800, 600, {420, 290}, 240, 0},
                                         Case{600, 800, {290, 420}, 240, 0}, Case{800, 600, {400, 260}, 300, 1},
                                         Case{1200, 800, {600, 400}, 520, 2}, Case{900, 800, {380, 400}, 480, 3},
                                         Case{1000, 1000, {500, 500}, 580, 4}));

TEST(FieldOfViewOf, APhotographThatIsLitToItsCornersIsAllOfIt) {
  const std::vector<std::uint8_t> pixels(400UL * 300 * 3, 120);
  const auto bounds = find_field_bounds(Photograph{pixels.data(), 400, 300}.red());
  ASSERT_TRUE(bounds);
  EXPECT_TRUE(bounds->full_frame);
  EXPECT_DOUBLE_EQ(bounds->radius, 250);
}

TEST(FieldOfViewOf, NothingLitIsNoField) {
  const std::vector<std::uint8_t> pixels(400UL * 300 * 3, 0);
  const auto bounds = find_field_bounds(Photograph{pixels.data(), 400, 300}.red());
  EXPECT_TRUE(!bounds || bounds->explained < 0.7) << bounds->explained;
}

TEST(CircleOf, IsTheOneMostPointsLieOn) {
  std::array<FundusPoint, kAngles> points;
  std::mt19937 random(3);
  for (int a = 0; a < kAngles; ++a) {
    const double turn = 2 * 3.14159265358979 * a / kAngles;
    points[static_cast<std::size_t>(a)] = {7 + 100 * std::cos(turn), -5 + 100 * std::sin(turn)};
    // Two fifths of the points lie anywhere.
    if (random() % 5 < 2)
      points[static_cast<std::size_t>(a)] = {double(random() % 200) - 100, double(random() % 200) - 100};
  }
  const auto circle = fit_circle(points);
  ASSERT_TRUE(circle);
  EXPECT_NEAR(circle->center.x, 7, 0.1);
  EXPECT_NEAR(circle->center.y, -5, 0.1);
  EXPECT_NEAR(circle->radius, 100, 0.1);
}

TEST(FundusCrop, PointsMasksAndPlanesComeBack) {
  const std::int32_t width = 900, height = 700, side = 1024;
  const FieldBounds bounds{.center = {430.3, 361.8}, .radius = 300.7};
  const FundusCrop how = make_crop(bounds, side);
  for (const FundusPoint p : {FundusPoint{0, 0}, FundusPoint{430.3, 361.8}, FundusPoint{899, 12.5}}) {
    const FundusPoint back = how.to_photograph(how.from_photograph(p));
    EXPECT_NEAR(back.x, p.x, 1e-9);
    EXPECT_NEAR(back.y, p.y, 1e-9);
  }
  // An ellipse that is drawn in the crop and on the photograph.
  const auto is_in = [](const FundusPoint& p) {
    const double x = (p.x - 480) / 90, y = (p.y - 300) / 55;
    return x * x + y * y <= 1;
  };
  std::vector<float> mask(static_cast<std::size_t>(side) * side), plane(mask.size());
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      const FundusPoint at = how.to_photograph(FundusPoint{double(x), double(y)});
      mask[static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x)] = is_in(at) ? 1.0F : 0.0F;
      plane[static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x)] = static_cast<float>(at.x + 2 * at.y);
    }
  const CropInverse way(how, width, height);
  std::vector<float> back(width), values(width);
  double both = 0, either = 0, worst = 0;
  for (std::int32_t y = 0; y < height; ++y) {
    way.row(mask.data(), y, back.data());
    way.row(plane.data(), y, values.data());
    for (std::int32_t x = 0; x < width; ++x) {
      const FundusPoint p{double(x), double(y)};
      const auto k = static_cast<std::size_t>(x);
      const FundusPoint in_crop = how.from_photograph(p);
      ASSERT_EQ(way.has(x, y),
                in_crop.x >= -0.5 && in_crop.y >= -0.5 && in_crop.x <= side - 0.5 && in_crop.y <= side - 0.5);
      const bool a = is_in(p), b = back[k] >= 0.5F;
      both += a && b ? 1 : 0;
      either += a || b ? 1 : 0;
      if (std::hypot(p.x - bounds.center.x, p.y - bounds.center.y) < 290)
        worst = std::max(worst, std::abs(values[k] - (p.x + 2 * p.y)));
    }
  }
  EXPECT_GE(both / either, 0.99);
  EXPECT_LT(worst, 0.01);
}

TEST(FundusCrop, AllOfAPhotographIsThereAndComesBackToItsEdges) {
  const std::int32_t width = 300, height = 200, side = 150;
  const FundusCrop how = make_whole_crop(width, height, side);
  EXPECT_EQ(how.scale, 0.5);
  // Corners lie where edges of pixels are, half a pixel from middles.
  const FundusPoint first = how.from_photograph(FundusPoint{-0.5, -0.5}),
                    last = how.from_photograph(FundusPoint{299.5, 199.5});
  EXPECT_NEAR(first.x, -0.5, 1e-9);
  EXPECT_NEAR(first.y, 24.5, 1e-9);
  EXPECT_NEAR(last.x, 149.5, 1e-9);
  EXPECT_NEAR(last.y, 124.5, 1e-9);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * height * 3, 200);
  const std::vector<std::uint8_t> square = crop({pixels.data(), width, height}, how);
  const auto at = [&](std::int32_t x, std::int32_t y) { return square[static_cast<std::size_t>((y * side + x) * 3)]; };
  EXPECT_EQ(at(0, 25), 200);
  EXPECT_EQ(at(149, 124), 200);
  EXPECT_EQ(at(75, 24), 0);
  EXPECT_EQ(at(75, 125), 0);
  const CropInverse way(how, width, height);
  const std::vector<float> ones(static_cast<std::size_t>(side) * side, 1.0F);
  std::vector<float> row(width);
  for (std::int32_t y = 0; y < height; ++y) {
    way.row(ones.data(), y, row.data());
    for (std::int32_t x = 0; x < width; ++x) ASSERT_TRUE(way.has(x, y) && row[static_cast<std::size_t>(x)] == 1);
  }
}

TEST(Enhance, OfAWholePictureWhatIsDarkStaysOut) {
  const std::int32_t side = 200;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(side) * side * 3, 100);
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < 40; ++x)
      for (int c = 0; c < 3; ++c) pixels[static_cast<std::size_t>((y * side + x) * 3 + c)] = 10;
  const std::vector<std::uint8_t> out = enhance_lit(pixels.data(), side);
  const auto at = [&](std::int32_t x) { return out[static_cast<std::size_t>((100 * side + x) * 3)]; };
  EXPECT_EQ(at(0), 0);
  EXPECT_EQ(at(39), 0);
  // The result is flat far from the dark, and brighter than its surround beside the dark.
  EXPECT_EQ(at(150), 127);
  EXPECT_GT(at(42), 200);
}

TEST(Enhance, FlatLightIsTheMiddleToTheVeryEdge) {
  const std::int32_t side = 256;
  const auto pixels = disc(side, side, {128, 128}, 127.5);
  const FieldBounds bounds{.center = {128, 128}, .radius = 128};
  const auto out = enhance(pixels.data(), side, bounds);
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      const double d = std::hypot(x - 128.0, y - 128.0);
      for (std::size_t c = 0; c < 3; ++c) {
        const int value = out[(static_cast<std::size_t>(y) * side + static_cast<std::size_t>(x)) * 3 + c];
        const int least = d > 127 ? 0 : d < 125.5 ? 125 : 0, most = d > 127 ? 0 : d < 125.5 ? 129 : 255;
        EXPECT_TRUE(value >= least && value <= most) << value << " at " << x << " " << y << " " << c;
      }
    }
}

TEST(Enhance, IsFourTimesWhatDiffersFromAGaussian) {
  // Compares with the definition, term by term, far from the edge.
  const std::int32_t side = 320;
  auto pixels = disc(side, side, {160, 160}, 160);
  std::mt19937 random(5);
  for (auto& each : pixels)
    if (each > 10) each = static_cast<std::uint8_t>(each - random() % 9);
  const FieldBounds bounds{.center = {160, 160}, .radius = 160};
  const auto out = enhance(pixels.data(), side, bounds);
  const double deviation = 0.05 * 160;
  for (const auto& [x0, y0] : {std::pair{160, 160}, {100, 190}, {210, 120}}) {
    double sum = 0, weights = 0;
    for (int y = -40; y <= 40; ++y)
      for (int x = -40; x <= 40; ++x) {
        const double w = std::exp(-(x * x + y * y) / (2 * deviation * deviation));
        sum += w * pixels[(static_cast<std::size_t>(y0 + y) * side + static_cast<std::size_t>(x0 + x)) * 3];
        weights += w;
      }
    const std::size_t k = (static_cast<std::size_t>(y0) * side + static_cast<std::size_t>(x0)) * 3;
    EXPECT_NEAR(out[k], 4 * (pixels[k] - sum / weights) + 127.5, 1.6) << x0;
  }
}

TEST(FundusQuality, MeasuresDarknessAndCutOffShare) {
  const std::int32_t side = 256;
  const FieldBounds whole{.center = {128, 128}, .radius = 128};
  FieldBounds half = whole;
  half.lines.push_back({{0, 1}, 128});
  const auto bright = disc(side, side, {128, 128}, 128), dark = disc(side, side, {128, 128}, 128, 20, 0);
  EXPECT_NEAR(measure_quality(bright.data(), side, whole).brightness, 180.0 / 255, 0.01);
  EXPECT_NEAR(measure_quality(dark.data(), side, whole).brightness, 20.0 / 255, 0.01);
  EXPECT_NEAR(measure_quality(bright.data(), side, whole).visible, 1, 1e-9);
  EXPECT_NEAR(measure_quality(bright.data(), side, half).visible, 0.5, 0.02);
}

}  // namespace
}  // namespace millrace::fundus
