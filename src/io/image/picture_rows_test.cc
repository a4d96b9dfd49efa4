#include "src/io/image/picture_rows.h"

#include <gtest/gtest.h>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

std::unique_ptr<FileReader> opened(const std::string& path) { return FileReader::open(path).or_throw(); }

TEST(PictureRows, GivesTheRowsThatTheDecoderGives) {
  const TestFolder folder;
  const TestPixels pixels = test_pixels(53, 41, 3);
  const std::string path = folder.write("picture.png", png_bytes(pixels));
  // The buffer has room for less than a row, for some rows, and for all.
  for (const Bytes ahead : {Bytes{1}, Bytes{500}, 1_MiB}) {
    for (const int at_once : {1, 7, 41}) {
      auto rows = PictureRows::open(opened(path), {}, ahead).or_throw();
      EXPECT_EQ(rows->info().width, 53);
      EXPECT_EQ(rows->info().height, 41);
      ASSERT_EQ(rows->row_bytes(), 53U * 3);
      std::vector<std::uint8_t> got(pixels.data.size());
      for (int y = 0; y < 41; y += at_once) {
        ASSERT_TRUE(rows->take(std::min(at_once, 41 - y), got.data() + static_cast<std::size_t>(y) * 53 * 3).ok());
      }
      EXPECT_EQ(got, pixels.data);
      const auto finished = rows->finish();
      ASSERT_TRUE(finished.ok());
      EXPECT_FALSE(finished->decoded.damaged);
      EXPECT_EQ(finished->hash, hash_file(path).or_throw());
    }
  }
}

TEST(PictureRows, WhoStopsInTheMiddleWaitsForNothing) {
  const TestFolder folder;
  const std::string path = folder.write("picture.png", png_bytes(test_pixels(200, 300, 3)));
  for (const int taken : {0, 1, 150}) {
    auto rows = PictureRows::open(opened(path), {}, Bytes{600}).or_throw();
    std::vector<std::uint8_t> got(200 * 3);
    for (int y = 0; y < taken; ++y) ASSERT_TRUE(rows->take(1, got.data()).ok());
  }
}

TEST(PictureRows, ForeignFilesFailAtOnceAndTruncatedOnesAtTheirRow) {
  const TestFolder folder;
  const auto none = PictureRows::open(opened(folder.write("text.png", "no picture")), {}, 1_MiB);
  ASSERT_FALSE(none.ok());
  const std::string whole = png_bytes(test_pixels(200, 300, 3));
  auto rows = PictureRows::open(opened(folder.write("cut.png", whole.substr(0, whole.size() / 2))), {}, 1_MiB);
  ASSERT_TRUE(rows.ok());
  std::vector<std::uint8_t> got(200 * 3);
  int taken = 0;
  while (taken < 300 && (*rows)->take(1, got.data()).ok()) ++taken;
  const auto finished = (*rows)->finish();
  // Either there are fewer rows, or the picture is complete and reported as damaged.
  EXPECT_TRUE(taken < 300 ? !finished.ok() : finished.ok() && finished->decoded.damaged) << taken;
  if (taken < 300) {
    EXPECT_FALSE((*rows)->take(1, got.data()).ok());
  }
}

TEST(PictureRows, ACancelledDecoderStops) {
  const TestFolder folder;
  const std::string path = folder.write("picture.png", png_bytes(test_pixels(200, 300, 3)));
  DecodeOptions options;
  options.cancelled = [] { return true; };
  EXPECT_FALSE(PictureRows::open(opened(path), options, 1_MiB).ok());
}

TEST(PictureRows, WhatIsSpooledComesAsItWouldHave) {
  const TestFolder folder;
  const TestPixels pixels = test_pixels(53, 41, 3);
  const std::string path = folder.write("picture.png", png_bytes(pixels, {.interlaced = true}));
  auto rows = PictureRows::open(opened(path), {}, Bytes{500}).or_throw();
  EXPECT_FALSE(rows->is_held_whole());  // too small to be a problem
  rows->spool(folder.path());
  std::vector<std::uint8_t> got(pixels.data.size());
  ASSERT_TRUE(rows->take(1, got.data()).ok());
  ASSERT_TRUE(rows->take(40, got.data() + 53 * 3).ok());
  EXPECT_EQ(got, pixels.data);
  EXPECT_FALSE(rows->take(1, got.data()).ok());
  EXPECT_EQ(rows->finish().or_throw().hash, hash_file(path).or_throw());
  // The folder shows no file besides the picture.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(PictureRows, WhatIsSpooledFailsWhereItWouldHave) {
  const TestFolder folder;
  const std::string whole = png_bytes(test_pixels(200, 300, 3));
  auto rows =
      PictureRows::open(opened(folder.write("cut.png", whole.substr(0, whole.size() / 2))), {}, 1_MiB).or_throw();
  rows->spool(folder.path());
  std::vector<std::uint8_t> got(200 * 3);
  int taken = 0;
  while (taken < 300 && rows->take(1, got.data()).ok()) ++taken;
  const auto finished = rows->finish();
  EXPECT_TRUE(taken < 300 ? !finished.ok() : finished.ok() && finished->decoded.damaged) << taken;
}

TEST(PictureRows, APictureThatItsDecoderHoldsIsReported) {
  const TestFolder folder;
  const TestPixels pixels = test_pixels(6000, 4000, 3);
  const auto held = [&](bool interlaced) {
    const std::string path = folder.write("large.png", png_bytes(pixels, {.interlaced = interlaced}));
    return PictureRows::open(opened(path), {}, 1_MiB).or_throw()->is_held_whole();
  };
  EXPECT_TRUE(held(true));
  EXPECT_FALSE(held(false));
}

}  // namespace
}  // namespace millrace
