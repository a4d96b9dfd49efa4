#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/io/image/helper_pool.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using namespace std::string_view_literals;

ImageFormat sniff(std::string_view head, std::string_view path = "x") {
  return sniff_format({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()}, path);
}

struct Magic {
  std::string_view bytes;
  ImageFormat format;
};

constexpr Magic kMagics[] = {
    {"\xFF\xD8\xFF\xE0"sv, ImageFormat::jpeg},
    {"\x89PNG\r\n\x1A\n"sv, ImageFormat::png},
    {"GIF89a"sv, ImageFormat::gif},
    {"RIFF\x10\0\0\0WEBPVP8 "sv, ImageFormat::webp},
    {"\xFF\x0A"sv, ImageFormat::jxl},
    {"\0\0\0\x0CJXL \r\n\x87\n"sv, ImageFormat::jxl},
    {"\0\0\0\x0CjP  \r\n\x87\n"sv, ImageFormat::jp2},
    {"\xFF\x4F\xFF\x51"sv, ImageFormat::jp2},
    {"\0\0\0\x20"
     "ftypheic"sv,
     ImageFormat::heif},
    {"\0\0\0\x20"
     "ftypavif"sv,
     ImageFormat::heif},
    {"II*\0\x08\0\0\0"sv, ImageFormat::tiff},
    {"MM\0*\0\0\0\x08"sv, ImageFormat::tiff},
    {"BM................"sv, ImageFormat::bmp},
    {"P6\n"sv, ImageFormat::pnm},
    {"FUJIFILMCCD-RAW"sv, ImageFormat::raw},
};

TEST(Format, IsRecognizedByTheFirstBytes) {
  for (const Magic& magic : kMagics) {
    EXPECT_EQ(sniff(magic.bytes), magic.format) << name_of(magic.format);
    EXPECT_EQ(sniff(magic.bytes, "liar.jpg"), magic.format) << "whatever its name is";
    for (std::size_t n = 0; n < magic.bytes.size(); ++n) (void)sniff(magic.bytes.substr(0, n));
  }
  EXPECT_EQ(sniff("II*\0\x08\0\0\0"sv, "a.NEF"), ImageFormat::raw);
  EXPECT_EQ(sniff("\0\0\0\x20"
                  "ftypisom"sv,
                  "a.jpg"),
            ImageFormat::unknown)
      << "film";
  EXPECT_EQ(sniff("<html>"sv, "a.jpg"), ImageFormat::unknown);
  EXPECT_EQ(sniff(""sv), ImageFormat::unknown);
}

TEST(Format, RandomBytesAfterEveryMagicAreAnOutcome) {
  TestFolder folder;
  HelperPool helpers;
  std::uint32_t state = 7;
  for (const Magic& magic : kMagics) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{30}, std::size_t{3000}}) {
      std::string bytes(magic.bytes);
      for (std::size_t i = 0; i < length; ++i) {
        state = state * 1664525U + 1013904223U;
        bytes += static_cast<char>(state >> 24);
      }
      const std::string name = magic.format == ImageFormat::raw ? "noise.raf" : "noise";
      const auto got = decode_file(folder.write(name, bytes), {.max_pixels = 1 << 22, .helpers = &helpers});
      if (got.outcome) {
        EXPECT_EQ(got.sink.rows_kept(), got.sink.info.height) << name_of(magic.format);
      } else {
        EXPECT_FALSE(got.outcome.error().what.empty());
        EXPECT_THAT(got.outcome.error().message(), testing::HasSubstr("noise"));
      }
    }
  }
}

TEST(Format, EmptyAndForeignFilesAreReported) {
  TestFolder folder;
  EXPECT_THAT(decode_file(folder.write("a.jpg", "")).outcome.error().what, testing::HasSubstr("empty"));
  EXPECT_EQ(decode_file(folder.write("b.jpg", "<html>")).outcome.error().code, ErrorCode::unsupported);
  EXPECT_EQ(decode_file(folder.at("none.jpg")).outcome.error().code, ErrorCode::not_found);
}

TEST(Format, PictureNames) {
  for (const char* yes : {"a.jpg", "b.JPEG", "/x/y.HeiC", "c.dng", "d.PNG"})
    EXPECT_TRUE(has_picture_extension(yes)) << yes;
  for (const char* no : {"jpg", "a.txt", "a.jpg.xmp", ".png/x", "a."}) EXPECT_FALSE(has_picture_extension(no)) << no;
}

}  // namespace
}  // namespace millrace
