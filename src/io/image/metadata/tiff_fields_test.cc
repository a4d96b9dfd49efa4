#include "src/io/image/metadata/tiff_fields.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"

namespace millrace {
namespace {

constexpr auto kMain = TiffDirectory::main, kExif = TiffDirectory::exif, kGps = TiffDirectory::gps;

// The fields of a structure, with its bytes in a buffer that ends where the structure ends.
struct Read {
  explicit Read(const std::string& text, TiffDirectory first = TiffDirectory::main)
      : bytes(text.begin(), text.end()), source(bytes), fields(ByteRange(source), first) {}
  std::vector<std::uint8_t> bytes;
  ByteSource source;
  TiffFields fields;
};

TestTiff sample(ByteOrder order, bool wide) {
  TestTiff tiff(order, wide);
  tiff.ascii(kMain, 0x010F, "  Maker \0rest").whole(kMain, 0x0112, 6).whole(kMain, 0x4746, 4, 4);
  tiff.ascii(kMain, 0x0110, "M1").ascii(kExif, 0x9003, "2024:05:01 12:30:00");
  tiff.rational(kExif, 0x829A, {{1, 60}}).rational(kExif, 0x9204, {{-1, 3}}, 10);
  tiff.rational(kGps, 2, {{48, 1}, {8, 1}, {4294967295, 100}}).bytes(kExif, 0x927C, "notes of the maker");
  tiff.whole(TiffDirectory::interop, 1, 1).whole(TiffDirectory::thumbnail, 0x0103, 6);
  return tiff;
}

TEST(TiffFields, ReadsBothOrdersAndBothWidths) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    for (const bool wide : {false, true}) {
      for (const std::string& head : {std::string(), std::string("Exif\0\0", 6)}) {
        const Read read(head + sample(order, wide).build());
        const TiffFields& f = read.fields;
        EXPECT_EQ(f.text(kMain, 0x010F), "Maker");
        EXPECT_EQ(f.text(kMain, 0x0110), "M1") << "a value inside its entry";
        EXPECT_EQ(f.text(kExif, 0x9003), "2024:05:01 12:30:00");
        EXPECT_EQ(f.number(kMain, 0x0112), 6U);
        EXPECT_EQ(f.number(kMain, 0x4746), 4U);
        EXPECT_EQ(f.rational(kExif, 0x829A), (Rational{1, 60}));
        EXPECT_EQ(f.rational(kExif, 0x9204), (Rational{-1, 3}));
        EXPECT_EQ(f.rational(kGps, 2, 2), (Rational{4294967295, 100}));
        EXPECT_EQ(f.rational(kGps, 2, 3), Rational());
        EXPECT_EQ(as_text(f.value(kExif, 0x927C).first(99)), "notes of the maker");
        EXPECT_EQ(f.number(TiffDirectory::interop, 1), 1U);
        EXPECT_EQ(f.number(TiffDirectory::thumbnail, 0x0103), 6U);
        EXPECT_EQ(f.count_distinct_fields(), 11);
      }
    }
  }
}

TEST(TiffFields, WhatIsNotThereOrOfAnotherTypeIsAbsent) {
  TestTiff tiff(ByteOrder::little);
  tiff.bytes(kMain, 1, "12345678").ascii(kMain, 2, "").field(kMain, 3, 99, 1, "abcd").field(kMain, 4, 3, 0, "");
  tiff.rational(kMain, 5, {{1, 0}});
  const Read read(tiff.build());
  EXPECT_EQ(read.fields.text(kMain, 1), "");
  EXPECT_EQ(read.fields.number(kMain, 1), std::nullopt);
  EXPECT_FALSE(read.fields.rational(kMain, 1).is_known());
  EXPECT_EQ(read.fields.text(kMain, 2), "");
  EXPECT_TRUE(read.fields.value(kMain, 3).empty());
  EXPECT_EQ(read.fields.number(kMain, 4), std::nullopt);
  EXPECT_FALSE(read.fields.rational(kMain, 5).is_known());
  EXPECT_EQ(read.fields.number(kExif, 1), std::nullopt);
  EXPECT_EQ(read.fields.count_distinct_fields(), 4);
}

TEST(TiffFields, HugeCountsAndPlacesPastTheEndAreAbsent) {
  for (const bool wide : {false, true}) {
    for (const std::uint64_t count : {std::uint64_t{0xFFFFFFFF}, UINT64_MAX, wide ? UINT64_MAX / 8 + 2 : 1U << 29}) {
      TestTiff tiff(ByteOrder::big, wide);
      tiff.field(kMain, 1, 2, count, "behind its entry");
      tiff.field(kMain, 2, 12, count, "behind its entry");
      const Read read(tiff.build());
      EXPECT_EQ(read.fields.text(kMain, 1), "");
      EXPECT_EQ(read.fields.count_distinct_fields(), 0);
    }
  }
}

TEST(TiffFields, DirectoriesInACircleAreReadOnce) {
  std::string tiff = "II*";
  tiff += std::string("\0\x08\0\0\0", 5);
  tiff += std::string("\x02\0", 2);
  tiff += std::string("\x69\x87\x04\0\x01\0\0\0\x08\0\0\0", 12);  // the EXIF directory is this one
  tiff += std::string("\x25\x88\x04\0\x01\0\0\0\x08\0\0\0", 12);
  tiff += std::string("\x08\0\0\0", 4);  // so is the next directory
  EXPECT_EQ(Read(tiff).fields.count_distinct_fields(), 0);
}

TEST(TiffFields, MoreFieldsThanAnyoneWritesAreCut) {
  TestTiff tiff(ByteOrder::little);
  for (int i = 0; i < 65535; ++i) tiff.whole(kMain, static_cast<std::uint16_t>(0x1000 + i), 1);
  EXPECT_EQ(Read(tiff.build()).fields.count_distinct_fields(), static_cast<int>(TiffFields::kMaxFields));
}

TEST(TiffFields, CanBeginWithAnotherDirectory) {
  TestTiff tiff(ByteOrder::little);
  tiff.ascii(kMain, 0x9003, "2024:05:01 12:30:00");
  EXPECT_EQ(Read(tiff.build(), kExif).fields.text(kExif, 0x9003), "2024:05:01 12:30:00");
  EXPECT_EQ(Read(tiff.build(), kExif).fields.text(kMain, 0x9003), "");
}

TEST(TiffFields, NeverFailsNorInvents) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    for (const bool wide : {false, true}) {
      const std::string whole = sample(order, wide).build();
      const Read all(whole);
      for (std::size_t n = 0; n < whole.size(); ++n) {
        const Read cut(whole.substr(0, n));
        EXPECT_LE(cut.fields.count_distinct_fields(), all.fields.count_distinct_fields());
        for (const TiffDirectory directory : {kMain, kExif, kGps}) {
          for (const std::uint16_t tag : std::to_array<std::uint16_t>({0x010F, 0x0110, 0x9003})) {
            const std::string text = cut.fields.text(directory, tag);
            EXPECT_TRUE(text.empty() || text == all.fields.text(directory, tag)) << text;
          }
        }
      }
      for (std::size_t i = 0; i < whole.size(); ++i) {
        for (const int bit : {0, 3, 7}) {
          std::string broken = whole;
          broken[i] = static_cast<char>(broken[i] ^ 1 << bit);
          const Read read(broken);
          (void)read.fields.rational(kGps, 2, 2);
          (void)read.fields.text(kExif, 0x9003);
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace
