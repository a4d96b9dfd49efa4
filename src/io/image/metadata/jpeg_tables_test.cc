#include <cstddef>
#include <cstdio>

// jpeglib.h needs FILE and size_t declared before it.
#include <jpeglib.h>

#include <gtest/gtest.h>

#include "src/io/image/metadata/jpeg_tables.h"
#include "src/io/image/metadata/metadata_for_test.h"

namespace millrace {
namespace {

constexpr std::array<std::uint8_t, 64> kOrder = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                                 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                                 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                                 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// Returns the tables that libjpeg makes, as a DQT segment holds them.
std::vector<std::uint8_t> libjpeg_tables(int quality, bool baseline) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  info.in_color_space = JCS_RGB;
  info.input_components = 3;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, baseline ? TRUE : FALSE);
  std::vector<std::uint8_t> out;
  for (int t = 0; t < 2; ++t) {
    const UINT16* values = info.quant_tbl_ptrs[t]->quantval;
    const bool wide = std::any_of(values, values + 64, [](UINT16 v) { return v > 255; });
    out.push_back(static_cast<std::uint8_t>((wide ? 16 : 0) + t));
    for (const std::uint8_t at : kOrder) {
      if (wide) out.push_back(static_cast<std::uint8_t>(values[at] >> 8));
      out.push_back(static_cast<std::uint8_t>(values[at] & 255));
    }
  }
  jpeg_destroy_compress(&info);
  return out;
}

std::vector<std::uint8_t> frame(const std::vector<int>& tables) {
  std::vector<std::uint8_t> out = {8, 0, 16, 0, 16, static_cast<std::uint8_t>(tables.size())};
  for (const int table : tables) out.insert(out.end(), {1, 0x11, static_cast<std::uint8_t>(table)});
  return out;
}

TEST(JpegTables, KnowsLibjpegsAtEveryQuality) {
  for (int quality = 1; quality <= 100; ++quality) {
    for (const bool baseline : {true, false}) {
      JpegTables tables;
      tables.add_quantization_tables(libjpeg_tables(quality, baseline));
      EXPECT_EQ(tables.quality(), quality);
      tables.frame(frame({0, 1, 1}));
      EXPECT_EQ(tables.quality(), quality);
      tables.frame(frame({0}));
      EXPECT_EQ(tables.quality(), quality) << "gray";
      EXPECT_NE(tables.hash(), 0U);
    }
  }
}

TEST(JpegTables, OneNumberMoreIsAnotherTable) {
  const auto right = libjpeg_tables(80, true);
  JpegTables first;
  first.add_quantization_tables(right);
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (i % 65 == 0) continue;
    auto other = right;
    ++other[i];
    JpegTables tables;
    tables.add_quantization_tables(other);
    tables.frame(frame({0, 1, 1}));
    EXPECT_EQ(tables.quality(), 0) << i;
    EXPECT_TRUE(tables.any());
    EXPECT_NE(tables.hash(), first.hash());
  }
}

TEST(JpegTables, LumaAndChromaOfTwoQualities) {
  auto mixed = libjpeg_tables(80, true);
  const auto other = libjpeg_tables(60, true);
  std::copy(other.begin() + 65, other.end(), mixed.begin() + 65);
  JpegTables tables;
  tables.add_quantization_tables(mixed);
  EXPECT_EQ(tables.quality(), 0);
  tables.frame(frame({0, 0, 0}));
  EXPECT_EQ(tables.quality(), 80) << "chroma's is not used";
  tables.frame(frame({0, 1, 2}));
  EXPECT_EQ(tables.quality(), 0) << "one is not defined";
  tables.frame(frame({7}));
  EXPECT_EQ(tables.quality(), 0);
}

TEST(JpegTables, NeverFails) {
  const auto whole = libjpeg_tables(75, false);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    JpegTables tables;
    tables.add_quantization_tables(
        std::vector<std::uint8_t>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    EXPECT_EQ(tables.any(), n >= 65);
    EXPECT_EQ(tables.quality(), n >= 65 ? 75 : 0) << "the first alone is gray's";
  }
  const auto head = frame({0, 1, 1});
  for (std::size_t n = 0; n < head.size(); ++n) {
    JpegTables tables;
    tables.add_quantization_tables(whole);
    tables.frame(std::vector<std::uint8_t>(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(n)));
    EXPECT_EQ(tables.quality(), 75);
  }
  JpegTables none;
  none.add_quantization_tables({});
  none.add_quantization_tables(std::vector<std::uint8_t>(200, 0x34));
  EXPECT_EQ(none.hash(), 0U);
  EXPECT_EQ(none.quality(), 0);
}

}  // namespace
}  // namespace millrace
