#include "src/kernels/ink/ink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "src/kernels/ink/canvas.h"

namespace millrace::ink {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint8_t> painted(const Picture& picture, const Tones& tones) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(picture.width()) * static_cast<std::size_t>(picture.height()));
  paint(picture, tones, out.data());
  return out;
}

TEST(Ink, LiteralsAndRunsAreWhatIsPainted) {
  Picture picture;
  picture.begin(6, 3);
  picture.begin_row();
  picture.add_literal(0, 10);
  picture.add_literal(1, 20);
  picture.add_run(2, 2, 255);
  picture.add_literal(4, 30);
  picture.begin_row();
  picture.add_run(3, 3, 7);
  picture.finish();
  EXPECT_THAT(painted(picture, tones(0, 255)),
              ElementsAre(10, 20, 255, 255, 30, 0, 0, 0, 0, 7, 7, 7, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(picture.row(0).size(), 2U);
  EXPECT_TRUE(picture.row(2).empty());
}

TEST(Ink, TonesGoFromPaperToInk) {
  const Tones dark = tones(255, 0);
  EXPECT_EQ(dark[0], 255);
  EXPECT_EQ(dark[255], 0);
  EXPECT_EQ(dark[100], 155);
  const Tones faint = tones(200, 100);
  EXPECT_EQ(faint[0], 200);
  EXPECT_EQ(faint[255], 100);
  EXPECT_EQ(faint[128], 150);
}

TEST(Canvas, TheLastPieceStaysAndAPictureIsForgotten) {
  Canvas canvas(100, 20);
  Picture picture;
  std::mt19937 random(2);
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint8_t> expected(100 * 20, 0);
    for (int i = 0; i < 30; ++i) {
      const int x = static_cast<int>(random() % 120) - 10, y = static_cast<int>(random() % 30) - 5;
      const int wide = static_cast<int>(random() % 9), high = static_cast<int>(random() % 9);
      const auto level = static_cast<std::uint8_t>(1 + random() % 255);
      canvas.block(x, x + wide, i % 2 == 0 ? y : y + high, i % 2 == 0 ? y + high : y, level);
      for (int v = std::max(0, y); v <= std::min(19, y + high); ++v) {
        for (int u = std::max(0, x); u <= std::min(99, x + wide); ++u) {
          expected[static_cast<std::size_t>(v * 100 + u)] = level;
        }
      }
    }
    canvas.finish(picture);
    EXPECT_EQ(painted(picture, tones(0, 255)), expected);
  }
}

}  // namespace
}  // namespace millrace::ink
