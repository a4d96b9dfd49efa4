#include "src/io/image/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

class FingerprintTest : public testing::Test {
 protected:
  FingerprintTest() {
    options_.hashes = {{HashKind::dhash, HashKind::phash, HashKind::pdq}, 8};
    options_.thumbnail_side = 64;
    options_.content_hash = true;
    options_.upright = true;
  }

  Outcome<PictureFingerprint> print_of(const std::string& path) {
    auto file = FileReader::open(path);
    if (!file) return file.error();
    Span span(trace_.stage("test", 1));
    return compute_fingerprint(
        **file, options_, budget_, [this] { return cancelled_; }, span);
  }
  Outcome<PictureFingerprint> print_of(const std::string& name, const std::string& bytes) {
    return print_of(folder_.write(name, bytes));
  }

  TestFolder folder_;
  Trace trace_{false};
  Budget budget_{256_MiB};
  FingerprintOptions options_;
  bool cancelled_ = false;
};

TEST_F(FingerprintTest, TurnsByEveryOrientationOnce) {
  const TestPixels upright = test_pixels(200, 120, 3);
  const auto right = print_of("upright.png", png_bytes(upright));
  ASSERT_TRUE(right) << right.error().message();
  for (const Orientation o : kOrientations) {
    // The pixels are stored so that rotating or mirroring by `o` gives the upright picture.
    const bool swapped = swaps_sides(o);
    TestPixels stored{swapped ? 120 : 200, swapped ? 200 : 120, 3,
                      oriented(upright.data.data(), 200, 120, 3, inverse(o))};
    for (const bool last : {false, true}) {
      const auto got =
          print_of("stored.png", png_bytes(stored, {.exif = test_exif(static_cast<int>(o)), .exif_last = last}));
      ASSERT_TRUE(got) << got.error().message();
      EXPECT_EQ(got->hashes.bits, right->hashes.bits) << static_cast<int>(o) << last;
      EXPECT_EQ(got->hashes.quality, right->hashes.quality);
      EXPECT_EQ(got->thumbnail.rgb, right->thumbnail.rgb);
      EXPECT_EQ(got->info.exif.orientation, o);
    }
    options_.upright = false;
    const auto as_stored = print_of("stored.png", png_bytes(stored, {.exif = test_exif(static_cast<int>(o))}));
    const auto bare = print_of("bare.png", png_bytes(stored));
    options_.upright = true;
    EXPECT_EQ(as_stored->hashes.bits, bare->hashes.bits);
  }
  EXPECT_EQ(budget_.used(), Bytes{});
}

TEST_F(FingerprintTest, HashesTheBytesOfWholeAndDamagedFiles) {
  const std::string bytes = jpeg_bytes(test_pixels(400, 300, 3));
  for (const std::size_t size : {bytes.size(), bytes.size() / 2}) {
    const std::string path = folder_.write("a.jpg", bytes.substr(0, size));
    const auto got = print_of(path);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->damaged, size < bytes.size());
    EXPECT_EQ(got->content, *hash_file(path));
  }
  const std::string trailing = folder_.write("b.jpg", bytes + std::string(3 << 20, 'x'));
  EXPECT_EQ(print_of(trailing)->content, *hash_file(trailing)) << "what follows the picture counts too";
}

TEST_F(FingerprintTest, NamesTheMemoryThatAPictureNeeds) {
  Budget budget(1_MiB);
  auto file = FileReader::open(folder_.write("a.png", png_bytes(test_pixels(1000, 900, 3), {.interlaced = true})));
  Span span(trace_.stage("test", 1));
  const auto got = compute_fingerprint(
      **file, options_, budget, [] { return false; }, span);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(got.error().what, testing::HasSubstr("needs"));
  EXPECT_THAT(got.error().remedy, testing::HasSubstr("--memory"));
  EXPECT_THAT(got.error().subject, testing::HasSubstr("a.png"));
  EXPECT_EQ(budget.used(), Bytes{});
}

TEST_F(FingerprintTest, ACancelledWaitIsNoFailureOfThePicture) {
  const auto others = budget_.try_reserve(256_MiB);
  ASSERT_TRUE(others);
  cancelled_ = true;
  const auto got = print_of("a.png", png_bytes(test_pixels(100, 90, 3)));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::cancelled);
}

TEST_F(FingerprintTest, ThumbnailsKeepTheirShape) {
  for (const auto& [width, height] : {std::pair(640, 480), {1, 500}, {500, 1}, {3000, 2}, {20, 10}}) {
    const auto got = print_of("a.png", png_bytes(test_pixels(width, height, 3)));
    ASSERT_TRUE(got);
    const Thumbnail& t = got->thumbnail;
    EXPECT_GE(std::min(t.width, t.height), 1);
    EXPECT_EQ(std::max(t.width, t.height), std::min(64, std::max(width, height)));
    EXPECT_EQ(t.rgb.size(), static_cast<std::size_t>(t.width * t.height * 3));
    const auto jpeg = encode_thumbnail(t, 4096);
    const auto back = decode_thumbnail(jpeg);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->width, t.width);
    // A thumbnail that comes from a catalog may hold any bytes.
    for (std::size_t n = 0; n < jpeg.size(); n += 7) (void)decode_thumbnail({jpeg.data(), n});
  }
}

}  // namespace
}  // namespace millrace
