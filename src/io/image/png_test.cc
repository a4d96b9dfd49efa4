#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

class PngTest : public testing::Test {
 protected:
  TestDecoding decode(const std::string& bytes, const DecodeOptions& options = {}) {
    return decode_file(folder_.write("picture.png", bytes), options);
  }
  TestFolder folder_;
};

std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(crc));
}

TEST_F(PngTest, GivesTheStoredPixelsWithoutAlpha) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const bool interlaced : {false, true}) {
      const TestPixels pixels = test_pixels(53, 41, channels);
      const auto got = decode(png_bytes(pixels, {.interlaced = interlaced}));
      ASSERT_TRUE(got.outcome);
      EXPECT_FALSE(got.outcome->damaged);
      const int shown = channels < 3 ? 1 : 3;
      ASSERT_EQ(got.sink.info.channels, shown);
      ASSERT_EQ(got.sink.rows_kept(), 41);
      for (int i = 0; i < 53 * 41; ++i) {
        for (int c = 0; c < shown; ++c) {
          ASSERT_EQ(got.sink.pixels[static_cast<std::size_t>(i * shown + c)],
                    pixels.data[static_cast<std::size_t>(i * channels + c)])
              << channels << interlaced << i;
        }
      }
    }
  }
}

TEST_F(PngTest, ClipsWideGrayAndHalvesWideColour) {
  // Big-endian samples 0, 200, 255, 256, 65535 and 7.
  const std::vector<std::uint8_t> samples = {0, 0, 0, 200, 0, 255, 1, 0, 255, 255, 0, 7};
  const auto gray = decode(png_bytes(6, 1, samples, 12, {.color = PNG_COLOR_TYPE_GRAY, .depth = 16}));
  ASSERT_TRUE(gray.outcome);
  EXPECT_EQ(gray.sink.pixels, (std::vector<std::uint8_t>{0, 200, 255, 255, 255, 7}));
  const auto rgb = decode(png_bytes(2, 1, samples, 12, {.color = PNG_COLOR_TYPE_RGB, .depth = 16}));
  ASSERT_TRUE(rgb.outcome);
  EXPECT_EQ(rgb.sink.pixels, (std::vector<std::uint8_t>{0, 0, 0, 1, 255, 0}));
}

TEST_F(PngTest, ExpandsPalettesAndSmallDepths) {
  const PngKind palette{
      .color = PNG_COLOR_TYPE_PALETTE, .depth = 2, .palette = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {255, 0, 255}}};
  const auto got = decode(png_bytes(4, 1, {0b00011011}, 1, palette));
  ASSERT_TRUE(got.outcome);
  EXPECT_EQ(got.sink.pixels, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 0, 255}));
  const auto bits = decode(png_bytes(8, 1, {0b10100101}, 1, {.color = PNG_COLOR_TYPE_GRAY, .depth = 1}));
  ASSERT_TRUE(bits.outcome);
  EXPECT_EQ(bits.sink.pixels, (std::vector<std::uint8_t>{255, 0, 255, 0, 0, 255, 0, 255}));
}

TEST_F(PngTest, AnIndexOutsideThePaletteIsNoCrash) {
  const PngKind palette{.color = PNG_COLOR_TYPE_PALETTE, .depth = 8, .palette = {{1, 2, 3}}};
  const auto got = decode(png_bytes(2, 1, {0, 200}, 2, palette));
  EXPECT_TRUE(!got.outcome || got.sink.rows_kept() == 1);
}

TEST_F(PngTest, CutAnywhereIsUnreadableOrDamagedWithTheSameRowsAbove) {
  const TestPixels pixels = test_pixels(400, 300, 3);
  const std::string whole = png_bytes(pixels);
  int last = 0;
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const auto got = decode(whole.substr(0, whole.size() * tenth / 10));
    if (!got.outcome) {
      EXPECT_EQ(last, 0) << tenth;
      EXPECT_EQ(got.outcome.error().code, ErrorCode::bad_data);
      continue;
    }
    EXPECT_TRUE(got.outcome->damaged);
    ASSERT_EQ(got.sink.rows_kept(), 300);
    int same = 0;
    while (same < 300 && std::memcmp(pixels.row(same), got.sink.pixels.data() + same * 1200, 1200) == 0) ++same;
    EXPECT_GE(same, last);
    // libpng unpacks 8 KiB at once.
    EXPECT_GE(same, 30 * static_cast<int>(tenth) - 35);
    // Rows after the part that arrived are black, and not left-over memory.
    for (std::size_t i = static_cast<std::size_t>(same) * 1200; i < got.sink.pixels.size(); ++i)
      ASSERT_EQ(got.sink.pixels[i], 0) << tenth;
    last = same;
  }
  EXPECT_GT(last, 230);
}

TEST_F(PngTest, CutInterlacedIsACoarseWholePicture) {
  const TestPixels pixels = test_pixels(640, 480, 1);
  const std::string whole = png_bytes(pixels, {.interlaced = true});
  double worse = 1e9;
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const auto got = decode(whole.substr(0, whole.size() * tenth / 10));
    if (!got.outcome) {
      EXPECT_LE(tenth, 1U);
      continue;
    }
    EXPECT_TRUE(got.outcome->damaged);
    ASSERT_EQ(got.sink.pixels.size(), pixels.data.size());
    double error = 0;
    for (std::size_t i = 0; i < pixels.data.size(); ++i) error += std::abs(got.sink.pixels[i] - pixels.data[i]);
    error /= static_cast<double>(pixels.data.size());
    EXPECT_LT(error, 12) << tenth;  // the noise is 16 levels, black would be 100 away
    EXPECT_LE(error, worse);
    worse = error;
  }
}

TEST_F(PngTest, RefusesABombByTheLimitItBreaks) {
  std::string bytes("\x89PNG\r\n\x1A\n", 8);
  bytes +=
      chunk("IHDR", big_endian(200'000) + big_endian(200'000) + std::string("\x08\x02\0\0\0", 5)) + chunk("IDAT", "x");
  const auto pixels = decode(bytes);
  ASSERT_FALSE(pixels.outcome);
  EXPECT_EQ(pixels.outcome.error().code, ErrorCode::too_large);
  EXPECT_THAT(pixels.outcome.error().what, HasSubstr("1,000,000,000"));
  bytes.resize(8);
  bytes += chunk("IHDR", big_endian(2'000'000) + big_endian(1) + std::string("\x08\0\0\0\0", 5)) + chunk("IDAT", "x");
  const auto side = decode(bytes);
  ASSERT_FALSE(side.outcome);
  EXPECT_THAT(side.outcome.error().what, HasSubstr("limit for a side is 1,000,000"));
}

TEST_F(PngTest, PassesOverTextThatUnpacksToGigabytes) {
  const TestPixels pixels = test_pixels(30, 20, 3);
  const std::string plain = png_bytes(pixels);
  // Two thousand copies of a kilobyte that unpacks to a mebibyte.
  const std::string zeros(1 << 20, 'a');
  uLongf size = ::compressBound(static_cast<uLong>(zeros.size()));
  std::string packed(size, '\0');
  ASSERT_EQ(::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()),
                       static_cast<uLong>(zeros.size())),
            Z_OK);
  packed.resize(size);
  std::string bytes = plain.substr(0, 33);
  const std::string text = chunk("zTXt", std::string("Comment\0\0", 9) + packed);
  for (int i = 0; i < 2000; ++i) bytes += text;
  bytes += plain.substr(33);
  const auto got = decode(bytes);
  ASSERT_TRUE(got.outcome);
  EXPECT_EQ(got.sink.pixels, pixels.data);
}

TEST_F(PngTest, MakesNoRoomForWhatAFileOnlyClaims) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes more than the limit by itself";
  const std::string plain = png_bytes(test_pixels(30, 20, 3));
  const rlim_t room = 512U << 20;
  rlimit before{};
  ::getrlimit(RLIMIT_DATA, &before);
  const rlimit bound{room, before.rlim_max};
  ::setrlimit(RLIMIT_DATA, &bound);
  for (const char* name : {"eXIf", "zTXt", "iCCP", "tRNS", "prVt"}) {
    const auto got = decode(plain.substr(0, 33) + big_endian(0x70000000) + name + plain.substr(33));
    EXPECT_FALSE(got.outcome) << name;
    EXPECT_EQ(got.outcome.error().what, "the file is truncated before its first pixel") << name;
  }
  ::setrlimit(RLIMIT_DATA, &before);
}

TEST_F(PngTest, ReportsExifBeforeAndAfterThePixels) {
  const TestPixels pixels = test_pixels(30, 20, 3);
  const auto first = decode(png_bytes(pixels, {.exif = test_exif(8)}));
  EXPECT_EQ(first.sink.info.exif.orientation, static_cast<Orientation>(8));
  const auto last = decode(png_bytes(pixels, {.exif = test_exif(8), .exif_last = true}));
  EXPECT_EQ(last.sink.info.exif.orientation, Orientation::upright);
  ASSERT_TRUE(last.outcome);
  EXPECT_EQ(last.outcome->info.exif.orientation, static_cast<Orientation>(8));
  EXPECT_EQ(last.outcome->info.exif.taken, "2024:05:01 12:30:00");
}

TEST_F(PngTest, AnInterlacedPictureReservesAllItsRows) {
  const TestPixels pixels = test_pixels(400, 300, 3);
  EXPECT_LT(decode(png_bytes(pixels)).sink.info.decoder_memory, 1_MiB);
  EXPECT_GE(decode(png_bytes(test_pixels(1000, 800, 3), {.interlaced = true})).sink.info.decoder_memory.count,
            1000U * 800 * 3);
}

}  // namespace
}  // namespace millrace
