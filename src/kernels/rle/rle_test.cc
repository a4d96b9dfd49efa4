#include "src/kernels/rle/rle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "src/kernels/rle/canvas.h"
#include "src/kernels/rle/pixels.h"

namespace millrace::rle {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint8_t> painted(const Image& picture, const GrayTable& grays) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(picture.width()) * static_cast<std::size_t>(picture.height()));
  paint(picture, grays, out.data());
  return out;
}

TEST(Rle, LiteralsAndRunsAreWhatIsPainted) {
  Image picture;
  picture.begin(6, 3);
  picture.begin_row();
  picture.add_literal(0, 10);
  picture.add_literal(1, 20);
  picture.add_run(2, 2, 255);
  picture.add_literal(4, 30);
  picture.begin_row();
  picture.add_run(3, 3, 7);
  picture.finish();
  EXPECT_THAT(painted(picture, gray_table(0, 255)),
              ElementsAre(10, 20, 255, 255, 30, 0, 0, 0, 0, 7, 7, 7, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(picture.row(0).size(), 2U);
  EXPECT_TRUE(picture.row(2).empty());
}

TEST(Rle, GraysGoFromBackgroundToForeground) {
  const GrayTable dark = gray_table(255, 0);
  EXPECT_EQ(dark[0], 255);
  EXPECT_EQ(dark[255], 0);
  EXPECT_EQ(dark[100], 155);
  const GrayTable faint = gray_table(200, 100);
  EXPECT_EQ(faint[0], 200);
  EXPECT_EQ(faint[255], 100);
  EXPECT_EQ(faint[128], 150);
}

Image scattered(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Image picture;
  picture.begin(width, height);
  for (int y = 0; y < height; ++y) {
    picture.begin_row();
    for (int x = 0; x < width; x += static_cast<int>(random() % 30)) {
      for (const int end = std::min<int>(width, x + static_cast<int>(random() % 4)); x < end; ++x) {
        picture.add_literal(x, static_cast<std::uint8_t>(random()));
      }
      const int run = std::min<int>(width - x, static_cast<int>(random() % 40));
      if (run > 0) picture.add_run(x, run, static_cast<std::uint8_t>(random()));
      x += run;
    }
  }
  picture.finish();
  return picture;
}

TEST(EncodedLevels, EveryTypeIsTheSamePicture) {
  const Image picture = scattered(131, 40, 3);
  const Colour background{250, 128, 3}, foreground{5, 200, 90};
  const ColourTable colours = colour_table(background, foreground);
  const std::vector<std::uint8_t> levels = painted(picture, gray_table(0, 255));
  for (const int channels : {1, 3}) {
    const auto count = static_cast<std::size_t>(channels);
    std::vector<std::uint8_t> bytes(levels.size() * count);
    std::vector<float> floats(bytes.size());
    paint(picture, encoded_levels(colours, channels, SampleDepth::bytes), bytes.data());
    paint(picture, encoded_levels(colours, channels, SampleDepth::floats),
          reinterpret_cast<std::uint8_t*>(floats.data()));
    // The second painter must give the same bytes at any address.
    Buffer<std::uint8_t> memory;
    for (std::size_t off = 0; off < 70; off += 23) {
      std::vector<std::uint8_t> past(bytes.size() + 100, 77);
      paint_past_caches(picture, encoded_levels(colours, channels, SampleDepth::bytes), memory, past.data() + off);
      paint_end();
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), past.begin() + static_cast<std::ptrdiff_t>(off)));
      ASSERT_EQ(past[off + bytes.size()], 77);
      if (off > 0) {
        ASSERT_EQ(past[off - 1], 77);
      }
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint8_t level = levels[i / count];
      const std::array<int, 3> from = {background.red, background.green, background.blue},
                               to = {foreground.red, foreground.green, foreground.blue};
      const double expected = from[i % count] + (to[i % count] - from[i % count]) * level / 255.0;
      ASSERT_NEAR(bytes[i], expected, 0.5001) << i;
      ASSERT_EQ(floats[i], static_cast<float>(bytes[i]) / 255.0F);
    }
  }
}

TEST(EncodedLevels, BitsArePackedAlongRows) {
  for (const int width : {1, 7, 8, 9, 64, 131}) {
    for (const auto& [background, foreground] :
         {std::pair(255, 0), std::pair(0, 255), std::pair(100, 160), std::pair(200, 150)}) {
      const GrayTable table = gray_table(static_cast<std::uint8_t>(background), static_cast<std::uint8_t>(foreground));
      const Image picture = scattered(width, 30, static_cast<unsigned>(width));
      BitPacker packer(table);
      Image packed;
      for (int twice = 0; twice < 2; ++twice) packer.pack(picture, packed);
      const auto row = static_cast<std::size_t>(width), bytes = (row + 7) / 8;
      ASSERT_EQ(packed.width(), static_cast<int>(bytes));
      std::vector<std::uint8_t> out(bytes * 30), expected(bytes * 30, 0);
      paint(packed, packer.pixels(), out.data());
      const std::vector<std::uint8_t> grays = painted(picture, table);
      for (std::size_t i = 0; i < grays.size(); ++i) {
        if (grays[i] >= 128) expected[i / row * bytes + i % row / 8] |= static_cast<std::uint8_t>(128 >> i % row % 8);
      }
      ASSERT_EQ(out, expected) << width << ' ' << background;
    }
  }
}

TEST(Canvas, TheLastPieceStaysAndAPictureIsForgotten) {
  Canvas canvas(100, 20);
  Image picture;
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
    EXPECT_EQ(painted(picture, gray_table(0, 255)), expected);
  }
}

}  // namespace
}  // namespace millrace::rle
