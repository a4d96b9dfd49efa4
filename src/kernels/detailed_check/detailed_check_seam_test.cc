#include "src/kernels/detailed_check/detailed_check_seam.h"

#include <gtest/gtest.h>

#include "src/kernels/detailed_check/detailed_check_scene_for_test.h"

namespace millrace::detailed_check {
namespace {

using Color = std::array<std::uint8_t, 3>;

PictureRaster plain(int width, int height, const Color& color) {
  PictureRaster out{width, height, {}, width, height};
  for (int i = 0; i < width * height; ++i) out.rgb.insert(out.rgb.end(), color.begin(), color.end());
  return out;
}

void lay(const PictureRaster& what, int left, int top, PictureRaster& on) {
  for (int y = 0; y < what.height; ++y) {
    const auto row = what.rgb.begin() + static_cast<std::ptrdiff_t>(y * what.width) * 3;
    std::copy_n(row, what.width * 3, on.rgb.begin() + static_cast<std::ptrdiff_t>((top + y) * on.width + left) * 3);
  }
}

Affine at(double left, double top) { return shift(left, top); }

TEST(Seam, WhatAPictureWasCutFromGoesOn) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const PictureRaster whole = show(Scene(seed), {.noise = 3});
    EXPECT_TRUE(continues_around(whole, {640 - 96, 480 - 96}, at(48, 48))) << seed << ": in the middle";
    EXPECT_TRUE(continues_around(whole, {600, 400}, at(0, 0))) << seed << ": at a corner";
    EXPECT_TRUE(continues_around(whole, {640, 400}, at(0, 37.4))) << seed << ": as wide, and between pixels";
    EXPECT_TRUE(continues_around(whole, {640, 480}, Affine())) << seed << ": the whole of it";
    // A crop that was straightened by a degree.
    EXPECT_TRUE(continues_around(whole, {560, 400}, {{0.9998, -0.0175, 46, 0.0175, 0.9998, 30}})) << seed;
  }
}

TEST(Seam, WhatHoldsAPictureDoesNot) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const Scene scene(seed);
    const PictureRaster picture = show(scene, {.width = 480, .height = 360, .noise = 3});
    for (const Color& color : {Color{0, 0, 0}, Color{255, 255, 255}, Color{128, 128, 128}}) {
      PictureRaster screen = plain(640, 900, color);
      lay(plain(640, 60, {220, 220, 226}), 0, 0, screen);
      lay(picture, 80, 270, screen);
      for (const double off : {0.0, 1.5, -1.5})
        EXPECT_FALSE(continues_around(screen, {480, 360}, at(80 + off, 270 - off))) << seed << " " << int{color[0]};
      PictureRaster bars = plain(480, 600, color);
      lay(picture, 0, 120, bars);
      EXPECT_FALSE(continues_around(bars, {480, 360}, at(0, 120))) << seed << " " << int{color[0]};
      PictureRaster thin = plain(640, 480, color);
      lay(show(scene, {.width = 616, .height = 456, .noise = 3}), 12, 12, thin);
      EXPECT_FALSE(continues_around(thin, {616, 456}, at(12, 12))) << seed << " " << int{color[0]};
    }
    // The picture before an enlarged, soft copy of itself; and beside another picture.
    PictureRaster soft = show(scene, {.width = 40, .height = 60, .left = 0.25F, .right = 0.625F});
    PictureRaster before{480, 720, {}, 480, 720};
    for (int y = 0; y < 720; ++y) {
      for (int x = 0; x < 480; ++x) {
        const auto from = soft.rgb.begin() + static_cast<std::ptrdiff_t>((y / 12) * 40 + x / 12) * 3;
        before.rgb.insert(before.rgb.end(), from, from + 3);
      }
    }
    lay(picture, 0, 180, before);
    EXPECT_FALSE(continues_around(before, {480, 360}, at(0, 180))) << seed;
    PictureRaster two = plain(960, 360, {0, 0, 0});
    lay(picture, 0, 0, two);
    lay(show(Scene(seed + 10), {.width = 480, .height = 360, .gain = 0.5F, .noise = 3}), 480, 0, two);
    EXPECT_FALSE(continues_around(two, {480, 360}, at(0, 0))) << seed;
  }
}

TEST(Seam, OfAPlainGroundOnlyLittleIsTaken) {
  PictureRaster drawing = plain(800, 600, {240, 240, 236});
  lay(plain(300, 200, {30, 60, 160}), 200, 150, drawing);
  EXPECT_TRUE(continues_around(drawing, {760, 560}, at(20, 20)));
  // A page around the drawing is as plain.
  EXPECT_FALSE(continues_around(drawing, {600, 400}, at(100, 100)));
  EXPECT_FALSE(continues_around(drawing, {800, 500}, at(0, 0)));
}

// Padding that repeats or mirrors the edge, as it is added where there is no more picture.
TEST(Seam, WhatWasMadeOfTheEdgeDoesNot) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const PictureRaster picture = show(Scene(seed), {.width = 480, .height = 360, .noise = 3});
    for (const bool mirrored : {false, true}) {
      PictureRaster out = plain(480, 480, {0, 0, 0});
      for (int y = 0; y < 480; ++y) {
        const int line = y - 60;
        const int from = line < 0 ? (mirrored ? -1 - line : 0) : line >= 360 ? (mirrored ? 719 - line : 359) : line;
        std::copy_n(picture.rgb.begin() + static_cast<std::ptrdiff_t>(from) * 1440, 1440,
                    out.rgb.begin() + static_cast<std::ptrdiff_t>(y) * 1440);
      }
      EXPECT_FALSE(continues_around(out, {480, 360}, at(0, 60))) << seed << " " << mirrored;
    }
  }
}

// The texture continues in gray beside the part: only the colour ends.
TEST(Seam, ColourEndsToo) {
  PictureRaster two = plain(640, 480, {0, 0, 0});
  for (int y = 0; y < 480; ++y) {
    for (int x = 0; x < 640; ++x) {
      const auto level = static_cast<std::uint8_t>(100 + (x * 7 + y * 5) % 9);
      const Color color = x < 320 ? Color{level, level, level}
                                  : Color{static_cast<std::uint8_t>(level + 80), static_cast<std::uint8_t>(level - 60),
                                          static_cast<std::uint8_t>(level + 40)};
      std::copy(color.begin(), color.end(), two.rgb.begin() + static_cast<std::ptrdiff_t>(y * 640 + x) * 3);
    }
  }
  EXPECT_FALSE(continues_around(two, {320, 480}, at(320, 0)));
}

TEST(Seam, ASideOutsideThePictureIsNotJudged) {
  const PictureRaster whole = show(Scene(1), {});
  EXPECT_TRUE(continues_around(whole, {640, 480}, at(5, 5)));
  EXPECT_TRUE(continues_around(whole, {640, 480}, at(2000, 2000)));
  EXPECT_TRUE(continues_around(whole, {4, 4}, at(100, 100)));
  EXPECT_TRUE(continues_around(plain(3, 3, {1, 2, 3}), {640, 480}, at(-100, -100)));
}

TEST(Seam, WhoStandsOnAScreenIsNotInIt) {
  const Scene scene(8);
  const PictureRaster picture = show(scene, {.width = 600, .height = 450});
  PictureRaster screen = plain(700, 900, {20, 20, 24});
  lay(plain(700, 60, {220, 220, 226}), 0, 0, screen);
  lay(picture, 50, 225, screen);
  const std::array<float, 6> guess = {0, 600.0F / 700, 0, 0, 0, 0.5F};
  const Verdict verdict = DetailedComparator().compare(PreparedPicture(picture), PreparedPicture(screen), guess);
  EXPECT_EQ(verdict.kind, DifferenceKind::framed);
  EXPECT_EQ(verdict.contained, Containment::neither);
  const PictureRaster whole = show(scene, {.width = 800, .height = 600});
  const PictureRaster part =
      show(scene, {.width = 600, .height = 450, .left = 0.125F, .top = 0.09375F, .right = 0.875F, .bottom = 0.65625F});
  const Verdict cut = DetailedComparator().compare(PreparedPicture(part), PreparedPicture(whole),
                                                   std::array<float, 6>{0, 0.75F, 0, 0, 0, 0.75F});
  EXPECT_EQ(cut.kind, DifferenceKind::same);
  EXPECT_EQ(cut.contained, Containment::first);
}

}  // namespace
}  // namespace millrace::detailed_check
