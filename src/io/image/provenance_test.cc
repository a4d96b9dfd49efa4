#include "src/io/image/provenance_for_test.h"

namespace millrace {
namespace {

TEST_F(ProvenanceTest, CameraOfBothByteOrders) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const Provenance p = of_exif(camera(order));
    expect_camera(p);
    EXPECT_FALSE(p.title || p.description || p.gps || p.colour_label || p.favourite || p.developed);
    EXPECT_EQ(p.rating, 0);
    EXPECT_EQ(p.keywords + p.people, 0U);
    EXPECT_FALSE(p.has_custom_tables);
    EXPECT_EQ(p.tables, 0U);
  }
}

TEST_F(ProvenanceTest, WhatPeopleGaveInExif) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const Provenance p = of_exif(described_camera_tiff(order));
    EXPECT_EQ(p.rating, 4);
    EXPECT_TRUE(p.title);
    EXPECT_EQ(p.keywords, 3U);
    EXPECT_TRUE(p.description);
    EXPECT_TRUE(p.gps);
  }
}

TEST_F(ProvenanceTest, BlanksAndDefaultsAreNothing) {
  TestTiff tiff(ByteOrder::little);
  tiff.ascii(kMain, 0x010E, "   ").bytes(kMain, 0x9C9B, wide_text("  ")).bytes(kMain, 0x9C9E, wide_text(" ; ;"));
  tiff.bytes(kExif, 0x9286, std::string(64, '\0')).whole(kMain, 0x4746, 99).whole(kExif, 0x8827, 65535);
  tiff.rational(kGps, 2, {{0, 1}, {0, 1}, {0, 1}}).rational(kGps, 4, {{0, 1}, {0, 1}, {0, 1}});
  tiff.whole(kExif, 0x8833, 102400, 4);
  const Provenance p = of_exif(tiff);
  EXPECT_FALSE(p.title || p.description || p.gps || p.maker_note);
  EXPECT_EQ(p.rating, 0);
  EXPECT_EQ(p.keywords, 0U);
  EXPECT_EQ(p.iso, 102400U);

  TestTiff unknown(ByteOrder::little);
  unknown.rational(kGps, 2, {{0, 0}, {0, 0}, {0, 0}}).rational(kGps, 4, {{5, 1}, {0, 1}, {0, 1}});
  EXPECT_FALSE(of_exif(unknown).gps);
}

TEST_F(ProvenanceTest, UserComments) {
  const auto is_personal = [&](const std::string& value) {
    return of_exif(TestTiff(ByteOrder::little).bytes(kExif, 0x9286, value)).description;
  };
  EXPECT_TRUE(is_personal("UNICODE" + std::string(1, '\0') + wide_text("Grandma")));
  EXPECT_TRUE(is_personal(std::string(8, '\0') + "Grandma"));
  EXPECT_FALSE(is_personal("UNICODE" + std::string(1, '\0') + wide_text("Screenshot")));
  EXPECT_FALSE(is_personal(std::string("ASCII\0\0\0METADATA-START", 22)));
  EXPECT_FALSE(is_personal(std::string("ASCII\0\0\0\1\2abc", 13)));
  EXPECT_FALSE(is_personal("ASCII"));
}

TEST_F(ProvenanceTest, ProgramsThatEditLeaveTheirNames) {
  EXPECT_TRUE(of_exif(TestTiff(ByteOrder::big).ascii(kMain, 0x0131, "GIMP 2.10.8")).edited_by_program);
  EXPECT_TRUE(of_exif(camera(ByteOrder::big).ascii(kMain, 0x000B, "digiKam-7.1.0")).edited_by_program);
  const Provenance both =
      of(jpeg_file(jpeg_segment(0xE1, std::string(kExifHead) + camera(ByteOrder::big).build()) +
                   jpeg_segment(0xE1, std::string(kXmpHead) + test_xmp("xmp:CreatorTool=\"Adobe Photoshop\"", ""))));
  EXPECT_EQ(both.software, "Ver.1.00");
  EXPECT_TRUE(both.edited_by_program);
  EXPECT_TRUE(of(jpeg_file(jpeg_segment(0xFE, "CREATOR: gd-jpeg v1.0"))).edited_by_program);
  EXPECT_TRUE(of(jpeg_file(jpeg_segment(0xEC, "Ducky abc"))).edited_by_program);
  EXPECT_FALSE(of(jpeg_file(jpeg_segment(0xFE, "hello"))).edited_by_program);
  EXPECT_TRUE(of(png_file(png_chunk("tEXt", std::string("Comment\0Created with GIMP", 25)))).edited_by_program);
}

TEST_F(ProvenanceTest, XmpOfJpeg) {
  const Provenance p =
      of_xmp(test_xmp("xmp:Rating=\"-1\" xmp:Label=\"Red\" crs:Exposure2012=\"1\" xmp:CreatorTool=\"14.4\"",
                      "<dc:subject><rdf:Bag><rdf:li>cat</rdf:li></rdf:Bag></dc:subject>"));
  EXPECT_EQ(p.rating, -1);
  EXPECT_TRUE(p.colour_label);
  EXPECT_TRUE(p.developed);
  EXPECT_EQ(p.keywords, 1U);
  EXPECT_EQ(p.software, "14.4");
  EXPECT_FALSE(p.edited_by_program);
  EXPECT_EQ(of_xmp(test_xmp("xmp:CreatorTool=\"" + std::string(9999, 'x') + "\"", "")).software.size(),
            TiffFields::kMaxTextBytes);
}

TEST_F(ProvenanceTest, XmpsRatingIsNewerThanExifs) {
  const std::string exif = jpeg_segment(0xE1, std::string(kExifHead) + described_camera_tiff(ByteOrder::big).build());
  const auto xmp = [](const char* rating) {
    return jpeg_segment(0xE1, std::string(kXmpHead) + test_xmp("xmp:Rating=\"" + std::string(rating) + "\"", ""));
  };
  EXPECT_EQ(of(jpeg_file(exif + xmp("2"))).rating, 2);
  EXPECT_EQ(of(jpeg_file(xmp("0") + exif)).rating, 0);
  EXPECT_EQ(of(jpeg_file(exif + xmp("no number"))).rating, 4);
  EXPECT_EQ(of(jpeg_file(exif + xmp("1") + xmp("5"))).rating, 1) << "the first counts";
}

TEST_F(ProvenanceTest, IptcOfJpegAndOfTiff) {
  const std::string iptc = iptc_dataset(25, "cat") + iptc_dataset(25, "dog") + iptc_dataset(5, "Title");
  const std::string resources = image_resource(0x0404, iptc, "x");
  for (const std::string& file : {jpeg_file(jpeg_segment(0xED, std::string(kResourcesHead) + resources)),
                                  TestTiff(ByteOrder::big).bytes(kMain, 0x83BB, iptc).build(),
                                  TestTiff(ByteOrder::little).bytes(kMain, 0x8649, resources).build()}) {
    const Provenance p = of(file);
    EXPECT_EQ(p.keywords, 2U);
    EXPECT_TRUE(p.title);
    EXPECT_FALSE(p.description);
  }
}

TEST_F(ProvenanceTest, TablesOfRealJpegs) {
  for (const int quality : {1, 30, 75, 90, 100}) {
    for (const int channels : {1, 3}) {
      for (const bool progressive : {false, true}) {
        const Provenance p =
            of(jpeg_bytes(test_pixels(24, 16, channels), {.progressive = progressive, .quality = quality}));
        EXPECT_EQ(p.jpeg_quality, quality);
        EXPECT_FALSE(p.has_custom_tables);
        EXPECT_NE(p.tables, 0U);
      }
    }
  }
  std::string own = jpeg_bytes(test_pixels(24, 16, 3), {.quality = 90});
  own[own.find("\xFF\xDB") + 20] ^= 1;
  const Provenance p = of(own);
  EXPECT_EQ(p.jpeg_quality, 0);
  EXPECT_TRUE(p.has_custom_tables);
  EXPECT_NE(p.tables, of(jpeg_bytes(test_pixels(24, 16, 3), {.quality = 90})).tables);
}

TEST_F(ProvenanceTest, FillingAndOtherSegmentsAreSteppedOver) {
  const std::string exif = jpeg_segment(0xE1, std::string(kExifHead) + camera(ByteOrder::little).build());
  const std::string icc = jpeg_segment(0xE2, std::string(65'000, 'p'));
  expect_camera(of(jpeg_file(jpeg_segment(0xE0, "JFIF") + std::string(1000, '\xFF') + icc + icc + "\xFF\x01" + exif)));
  // Segments after the first scan are not read.
  EXPECT_EQ(of(jpeg_file(jpeg_segment(0xDA, "scan") + exif)).make, "");
}

TEST_F(ProvenanceTest, OtherFilesHaveNoProvenance) {
  for (const char* bytes : {"", "GIF89a", "hello", "\xFF\xD8\xFF", "II*", "\x89PNG\r\n\x1A\n", "RIFF1234WEBP"}) {
    const Provenance p = of(bytes);
    EXPECT_EQ(p.make, "");
    EXPECT_FALSE(p.has_custom_tables);
  }
  EXPECT_FALSE(read_provenance(folder_.at("nothing")));
  EXPECT_FALSE(read_provenance(folder_.path()));
}

TEST_F(ProvenanceTest, TheReaderStaysWhereItIs) {
  const std::string bytes = jpeg_bytes(test_pixels(24, 16, 3), {.exif = camera(ByteOrder::big).build()});
  const auto file = FileReader::open(folder_.write("a.jpg", bytes));
  ASSERT_TRUE(file);
  const auto p = read_provenance(**file);
  ASSERT_TRUE(p);
  expect_camera(*p);
  EXPECT_EQ((*file)->next().size(), bytes.size());
}

}  // namespace
}  // namespace millrace
