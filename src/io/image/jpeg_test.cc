#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/io/test_pictures.h"
#include "src/kernels/luma/luma.h"

namespace millrace {
namespace {

using testing::HasSubstr;

class JpegTest : public testing::Test {
 protected:
  TestDecoding decode(const std::string& bytes, const DecodeOptions& options = {}) {
    return decode_file(folder_.write("picture.jpg", bytes), options);
  }
  TestFolder folder_;
};

// Returns the first row at which two pictures of one size differ.
int first_difference(const KeepingSink& a, const KeepingSink& b) {
  const auto pitch = static_cast<std::size_t>(a.info.width * a.info.channels);
  for (int y = 0; y < a.info.height; ++y) {
    if (std::memcmp(a.pixels.data() + static_cast<std::size_t>(y) * pitch,
                    b.pixels.data() + static_cast<std::size_t>(y) * pitch, pitch) != 0) {
      return y;
    }
  }
  return a.info.height;
}

TEST_F(JpegTest, GivesTheStoredPixels) {
  const TestPixels gray = test_pixels(61, 47, 1);
  const auto got = decode(jpeg_bytes(gray, {.quality = 100}));
  ASSERT_TRUE(got.outcome) << got.outcome.error().message();
  EXPECT_FALSE(got.outcome->damaged);
  EXPECT_TRUE(got.sink.info.exact);
  EXPECT_EQ(got.sink.info.channels, 1);
  ASSERT_EQ(got.sink.rows_kept(), 47);
  for (std::size_t i = 0; i < gray.data.size(); ++i) EXPECT_NEAR(got.sink.pixels[i], gray.data[i], 4);
}

TEST_F(JpegTest, TakesCmykAsInvertedInk) {
  // Adobe's programs store 255 for no ink, so stored 255 is white.
  TestPixels ink{32, 16, 4, std::vector<std::uint8_t>(32 * 16 * 4, 255)};
  const auto got = decode(jpeg_bytes(ink));
  ASSERT_TRUE(got.outcome);
  EXPECT_EQ(got.sink.info.channels, 3);
  EXPECT_EQ(got.sink.pixels, std::vector<std::uint8_t>(32 * 16 * 3, 255));
}

TEST_F(JpegTest, CutAnywhereIsUnreadableOrDamagedWithTheSameRowsAbove) {
  const std::string whole = jpeg_bytes(test_pixels(200, 160, 3));
  const auto right = decode(whole);
  ASSERT_TRUE(right.outcome);
  int last = 0;
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const auto got = decode(whole.substr(0, whole.size() * tenth / 10));
    if (!got.outcome) {
      EXPECT_EQ(last, 0) << "a longer part shows less, at tenth " << tenth;
      EXPECT_EQ(got.outcome.error().code, ErrorCode::bad_data);
      continue;
    }
    EXPECT_TRUE(got.outcome->damaged) << tenth;
    EXPECT_FALSE(got.outcome->damage.empty());
    ASSERT_EQ(got.sink.rows_kept(), 160);
    const int same = first_difference(right.sink, got.sink);
    EXPECT_GE(same, last);
    EXPECT_GE(same, 160 * (static_cast<int>(tenth) - 2) / 10) << tenth;
    last = same;
  }
  EXPECT_GT(last, 100);
}

TEST_F(JpegTest, CutProgressiveDisplaysFromItsFirstScan) {
  const std::string whole = jpeg_bytes(test_pixels(200, 160, 3), {.progressive = true});
  const std::size_t scans = whole.find("\xFF\xDA");
  ASSERT_NE(scans, std::string::npos);
  const auto headers = decode(whole.substr(0, scans + 12));
  ASSERT_FALSE(headers.outcome);
  EXPECT_THAT(headers.outcome.error().what, HasSubstr("truncated before its first pixel"));
  for (std::size_t tenth = 3; tenth < 10; ++tenth) {
    const auto got = decode(whole.substr(0, whole.size() * tenth / 10));
    ASSERT_TRUE(got.outcome) << tenth << got.outcome.error().message();
    EXPECT_TRUE(got.outcome->damaged);
    EXPECT_EQ(got.sink.rows_kept(), 160);
  }
}

TEST_F(JpegTest, CutAfterTheHeadersShowsNothing) {
  for (const int height : {8, 16, 17, 160}) {
    const std::string whole = jpeg_bytes(test_pixels(64, height, 3));
    const std::size_t scan = whole.find("\xFF\xDA");
    const auto got = decode(whole.substr(0, scan + 14));
    ASSERT_FALSE(got.outcome) << height;
    EXPECT_THAT(got.outcome.error().what, HasSubstr("truncated before its first pixel"));
  }
}

TEST_F(JpegTest, BrokenBytesInTheMiddleAreDamage) {
  std::string bytes = jpeg_bytes(test_pixels(200, 160, 3), {.restart_rows = 1});
  bytes.replace(bytes.size() / 2, 2, "\xFF\xD9");
  const auto got = decode(bytes);
  ASSERT_TRUE(got.outcome);
  EXPECT_TRUE(got.outcome->damaged);
  EXPECT_EQ(got.sink.rows_kept(), 160);
}

TEST_F(JpegTest, StrayBytesBetweenSegmentsAreNoDamage) {
  std::string bytes = jpeg_bytes(test_pixels(40, 40, 3));
  bytes.insert(bytes.find("\xFF\xDB"), "stray");
  const auto got = decode(bytes);
  ASSERT_TRUE(got.outcome);
  EXPECT_FALSE(got.outcome->damaged);
}

TEST_F(JpegTest, ReducedDecodingKeepsTheAskedSide) {
  const std::string bytes = jpeg_bytes(test_pixels(1030, 770, 3));
  for (const int shortest : {1, 64, 96, 97, 98, 192, 193, 194, 385, 386, 700, 5000}) {
    const auto got = decode(bytes, {.shortest_side = shortest});
    ASSERT_TRUE(got.outcome);
    const int shorter = std::min(got.sink.info.width, got.sink.info.height);
    EXPECT_GE(shorter, std::min(shortest, 770)) << shortest;
    EXPECT_EQ(got.sink.info.exact, shorter == 770);
    EXPECT_EQ(got.sink.info.full_width, 1030);
    EXPECT_EQ(got.sink.rows_kept(), got.sink.info.height);
    // A reduction returns less than twice the side that was asked for, where one is possible.
    if (shortest <= 385) {
      EXPECT_LT(shorter, std::max(2 * shortest, 99)) << shortest;
    }
  }
  const auto gray = decode(bytes, {.shortest_side = 96, .gray = true});
  ASSERT_TRUE(gray.outcome);
  EXPECT_EQ(gray.sink.info.channels, 1);
  EXPECT_FALSE(gray.sink.info.exact);
}

// Makes slopes and saturated noise in bands, so that some of the decoded colours are clipped.
TestPixels gaudy_pixels(int width, int height) {
  TestPixels out = test_pixels(width, height, 3);
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    if (i / 500 % 2 == 0) out.data[i] = (state >> 31) != 0 ? 255 : 0;
  }
  return out;
}

TEST_F(JpegTest, LumaAloneIsThatOfItsRgb) {
  const auto compare = [&](const std::string& bytes, const std::string& what) {
    SCOPED_TRACE(what);
    const auto rgb = decode(bytes);
    const auto luma = decode(bytes, {.luma = true});
    ASSERT_EQ(static_cast<bool>(luma.outcome), static_cast<bool>(rgb.outcome));
    if (!rgb.outcome) {
      EXPECT_EQ(luma.outcome.error().what, rgb.outcome.error().what);
      return;
    }
    EXPECT_EQ(luma.outcome->damage, rgb.outcome->damage);
    ASSERT_EQ(luma.sink.info.channels, 1);
    EXPECT_TRUE(luma.sink.info.exact);
    ASSERT_EQ(luma.sink.rows_kept(), rgb.sink.rows_kept());
    std::vector<std::uint8_t> expected(rgb.sink.pixels.size() / 3);
    luma_from_rgb(rgb.sink.pixels.data(), expected.data(), expected.size());
    EXPECT_EQ(luma.sink.pixels, expected);
  };
  for (const int width : {5, 6, 16, 17, 31, 32, 33, 129, 300}) {
    for (const int height : {1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 50}) {
      for (const bool progressive : {false, true}) {
        compare(jpeg_bytes(gaudy_pixels(width, height), {.progressive = progressive, .quality = 97}),
                std::to_string(width) + " x " + std::to_string(height));
      }
    }
  }
  const std::string whole = jpeg_bytes(gaudy_pixels(200, 160), {.restart_rows = 1});
  for (std::size_t part = 0; part < 40; ++part) {
    compare(whole.substr(0, whole.size() * part / 40), "cut at " + std::to_string(part));
    std::string broken = whole;
    broken.replace(600 + (whole.size() - 700) * part / 40, 3, part % 2 == 0 ? "\xFF\xD9\x01" : "\x10\xFF\xC4");
    compare(broken, "broken at " + std::to_string(part));
  }
}

TEST_F(JpegTest, GivesRgbWhereItsLumaAloneIsNotToBeHad) {
  for (const int width : {1, 3, 4, 64}) {
    const auto got = decode(jpeg_bytes(gaudy_pixels(width, 40), {.sampling = width == 64 ? 1 : 2}), {.luma = true});
    ASSERT_TRUE(got.outcome);
    EXPECT_EQ(got.sink.info.channels, 3) << width;
  }
}

TEST_F(JpegTest, RefusesMorePixelsThanAllowedByName) {
  const auto got = decode(jpeg_bytes(test_pixels(100, 100, 1)), {.max_pixels = 9'999});
  ASSERT_FALSE(got.outcome);
  EXPECT_EQ(got.outcome.error().code, ErrorCode::too_large);
  EXPECT_THAT(got.outcome.error().what, HasSubstr("9,999"));
  EXPECT_THAT(got.outcome.error().remedy, HasSubstr("--max-pixels"));
  EXPECT_EQ(got.sink.begun, 0);
}

TEST_F(JpegTest, RefusesThousandsOfScans) {
  // The last scan of a progressive picture, repeated: each takes a few bytes, but a pass over all pixels.
  const std::string whole = jpeg_bytes(test_pixels(64, 64, 1), {.progressive = true});
  const std::size_t last = whole.rfind("\xFF\xDA");
  std::string bytes = whole.substr(0, whole.size() - 2);
  const std::string scan = whole.substr(last, whole.size() - 2 - last);
  for (int i = 0; i < 2000; ++i) bytes += scan;
  const auto got = decode(bytes + "\xFF\xD9");
  ASSERT_FALSE(got.outcome);
  EXPECT_THAT(got.outcome.error().what, HasSubstr("scans"));
}

TEST_F(JpegTest, ReadsExifFromTheFirstBlockThatHoldsIt) {
  std::string bytes = jpeg_bytes(test_pixels(40, 30, 3), {.exif = test_exif(6)});
  EXPECT_EQ(decode(bytes).sink.info.exif.orientation, static_cast<Orientation>(6));
  // A segment of the same kind by another program comes first, and thousands of them follow.
  const std::string other = std::string("\xFF\xE1\x00\x20", 4) + "http://ns.adobe.com/xap/1.0/";
  std::string padded = other;
  padded.resize(34, '\0');
  bytes.insert(2, padded);
  for (int i = 0; i < 3000; ++i) bytes.insert(2, padded);
  const auto got = decode(bytes);
  ASSERT_TRUE(got.outcome) << got.outcome.error().message();
  EXPECT_EQ(got.sink.info.exif.orientation, static_cast<Orientation>(6));
  EXPECT_FALSE(got.outcome->damaged);
}

TEST_F(JpegTest, AsksForTheCoefficientsOfAProgressivePicture) {
  const TestPixels pixels = test_pixels(800, 600, 3);
  const auto plain = decode(jpeg_bytes(pixels));
  const auto progressive = decode(jpeg_bytes(pixels, {.progressive = true}));
  const std::uint64_t coefficients = 800 * 608 * 2 * 3 / 2;
  EXPECT_GE(progressive.sink.info.decoder_memory.count, plain.sink.info.decoder_memory.count + coefficients);
}

TEST_F(JpegTest, AnErrorFromTheSinkIsTheOutcome) {
  auto file = FileReader::open(folder_.write("a.jpg", jpeg_bytes(test_pixels(40, 40, 3))));
  KeepingSink sink;
  sink.begin_error = Error{ErrorCode::out_of_memory, "no", "", ""};
  const auto outcome = decode_picture(**file, {}, sink);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::out_of_memory);
  EXPECT_TRUE(sink.pixels.empty());
}

}  // namespace
}  // namespace millrace
