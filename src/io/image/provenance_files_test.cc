// Locations of the metadata in each file format.
#include "src/io/image/provenance_for_test.h"

namespace millrace {
namespace {

std::string itxt(std::string_view keyword, std::string_view text, bool compressed = false) {
  return png_chunk("iTXt", std::string(keyword) + '\0' + (compressed ? '\1' : '\0') + '\0' + "en" + '\0' + "word" +
                               '\0' + std::string(text));
}

TEST_F(ProvenanceTest, Png) {
  const std::string xmp = test_xmp("xmp:Rating=\"3\"", "");
  const Provenance p = of(png_file(png_chunk("eXIf", camera(ByteOrder::big).build()) + itxt("XML:com.adobe.xmp", xmp) +
                                   png_chunk("tEXt", std::string("Software\0GIMP", 13)) + itxt("Title", "T") +
                                   png_chunk("tEXt", std::string("Description\0what it is", 22))));
  EXPECT_EQ(p.make, "Maker");
  EXPECT_EQ(p.rating, 3);
  EXPECT_EQ(p.software, "Ver.1.00") << "EXIF's first";
  EXPECT_TRUE(p.edited_by_program);
  EXPECT_TRUE(p.title);
  EXPECT_TRUE(p.description);
  EXPECT_EQ(of(png_file(png_chunk("tEXt", std::string("Software\0Adobe ImageReady", 25)))).software,
            "Adobe ImageReady");
  EXPECT_EQ(of(png_file(itxt("Software", "x"))).software, "x");
  EXPECT_EQ(of(png_file(itxt("XML:com.adobe.xmp", xmp, true))).rating, 0) << "compressed";
  EXPECT_EQ(of(png_file("") + png_chunk("eXIf", camera(ByteOrder::big).build())).make, "") << "after the pixels";
}

TEST_F(ProvenanceTest, Webp) {
  for (const std::string& head : {std::string(), std::string(kExifHead)}) {
    const Provenance p = of(webp_file(webp_chunk("EXIF", head + camera(ByteOrder::little).build()) +
                                      webp_chunk("XMP ", test_xmp("xmp:Rating=\"3\"", "") + " ")));
    expect_camera(p);
    EXPECT_EQ(p.rating, 3);
  }
}

TEST_F(ProvenanceTest, TiffAndRawLikeIt) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    for (const bool wide : {false, true}) {
      TestTiff tiff = camera(order, wide);
      tiff.bytes(kMain, 700, test_xmp("xmp:Rating=\"3\"", ""), 1);
      for (const char* name : {"a.tif", "a.dng", "a.nef", "a.arw"}) {
        const Provenance p = of(tiff.build(), name);
        expect_camera(p);
        EXPECT_EQ(p.rating, 3);
        EXPECT_EQ(p.tables, 0U);
      }
    }
  }
  EXPECT_EQ(of(TestTiff(ByteOrder::little).ascii(kMain, 0xC62F, "77").build(), "a.dng").serial, "77");
  std::string olympus = camera(ByteOrder::little).build();
  olympus.replace(2, 2, "RO");
  expect_camera(of(olympus, "a.orf"));
}

TEST_F(ProvenanceTest, Raf) {
  const std::string jpeg = jpeg_file(jpeg_segment(0xE1, std::string(kExifHead) + camera(ByteOrder::little).build()) +
                                     jpeg_segment(0xDB, std::string(65, '\1')));
  std::string raf = "FUJIFILMCCD-RAW ";
  raf.resize(84);
  raf += number_bytes(120, 4) + number_bytes(jpeg.size(), 4);
  raf.resize(120);
  const Provenance p = of(raf + jpeg + "raw", "a.raf");
  expect_camera(p);
  EXPECT_EQ(p.tables, 0U) << "those are the preview's";
}

// Makes a HEIF file with one item of EXIF and one of XMP, in the file or in the meta box itself.
std::string heif_file(bool in_meta, int version) {
  const std::string exif = number_bytes(6, 4) + std::string(kExifHead) + camera(ByteOrder::big).build();
  const std::string xmp = test_xmp("xmp:Rating=\"3\"", "");
  const std::size_t id_bytes = version < 2 ? 2 : 4;
  const auto info = [&](int id, std::string_view type, std::string_view rest) {
    return box("infe", std::string{version < 2 ? '\2' : '\3'} + std::string(3, '\0') +
                           number_bytes(static_cast<std::uint64_t>(id), id_bytes) + number_bytes(0, 2) +
                           std::string(type) + std::string(rest));
  };
  const std::string infos = box(
      "iinf", std::string(4, '\0') + number_bytes(3, 2) + info(1, "hvc1", std::string(1, '\0')) +
                  info(2, "Exif", std::string(1, '\0')) + info(3, "mime", std::string("\0application/rdf+xml\0", 21)));
  const auto locations = [&](std::uint64_t base) {
    std::string out = std::string{static_cast<char>(version)} + std::string(3, '\0') + "\x44";
    out += '\x40';  // a base of four bytes
    out += number_bytes(2, version < 2 ? 2 : 4);
    const auto item = [&](int id, std::uint64_t at, std::uint64_t size) {
      out += number_bytes(static_cast<std::uint64_t>(id), id_bytes);
      if (version > 0) out += number_bytes(in_meta ? 1 : 0, 2);
      out +=
          number_bytes(0, 2) + number_bytes(base, 4) + number_bytes(1, 2) + number_bytes(at, 4) + number_bytes(size, 4);
    };
    item(2, 0, exif.size());
    item(3, exif.size(), xmp.size());
    return box("iloc", out);
  };
  const auto meta = [&](std::uint64_t base) {
    return box("meta", std::string(4, '\0') + box("hdlr", "pict") + infos + locations(base) +
                           (in_meta ? box("idat", exif + xmp) : ""));
  };
  const std::string head = box("ftyp", "heic" + number_bytes(0, 4) + "mif1");
  if (in_meta) return head + meta(0);
  return head + meta(head.size() + meta(0).size() + 8) + box("mdat", exif + xmp);
}

TEST_F(ProvenanceTest, Heif) {
  for (const auto& [in_meta, version] :
       std::vector<std::pair<bool, int>>{{false, 0}, {false, 1}, {true, 1}, {true, 2}}) {
    const Provenance p = of(heif_file(in_meta, version));
    expect_camera(p);
    EXPECT_EQ(p.rating, 3);
  }
}

TEST_F(ProvenanceTest, HeifThatClaimsBillions) {
  // Extents of zero bytes; then a table that consists of extents only.
  for (const char* sizes : {"\0\0", "\x88\x88"}) {
    std::string table = std::string("\1\0\0\0", 4) + std::string(sizes, 2) + "\xFF\xFF";
    for (int i = 0; i < 20'000; ++i) table += number_bytes(5, 2) + std::string(4, '\0') + "\xFF\xFF";
    const std::string infos =
        box("iinf", std::string(4, '\0') + number_bytes(1, 2) + box("infe", std::string("\2\0\0\0\0\2\0\0Exif\0", 13)));
    EXPECT_EQ(of(box("ftyp", "heic1234mif1") + box("meta", std::string(4, '\0') + infos + box("iloc", table))).make,
              "");
  }
}

TEST_F(ProvenanceTest, Cr3AndJpegXl) {
  const std::string canon("\x85\xC0\xB6\x87\x82\x0F\x11\xE0\x81\x11\xF4\xCE\x46\x2B\x6A\x48", 16);
  const std::string adobe("\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC", 16);
  const std::string main = TestTiff(ByteOrder::little).ascii(kMain, 0x010F, "Canon").ascii(kMain, 0x0110, "R5").build();
  const std::string exif = TestTiff(ByteOrder::little).ascii(kMain, 0x9003, "2024:05:01 12:30:00").build();
  const std::string gps =
      TestTiff(ByteOrder::little).rational(kMain, 2, {{48, 1}}).rational(kMain, 4, {{11, 1}}).build();
  const Provenance p = of(box("ftyp", "crx 1234crx isom") +
                              box("moov", box("uuid", canon + box("CNCV", "x") + box("CMT1", main) + box("CMT2", exif) +
                                                          box("CMT3", "notes") + box("CMT4", gps))) +
                              box("uuid", adobe + test_xmp("xmp:Rating=\"2\"", "")),
                          "a.cr3");
  EXPECT_EQ(p.make, "Canon");
  EXPECT_EQ(p.model, "R5");
  EXPECT_EQ(p.taken, "2024:05:01 12:30:00");
  EXPECT_TRUE(p.maker_note);
  EXPECT_TRUE(p.gps);
  EXPECT_EQ(p.rating, 2);

  const std::string jxl("\0\0\0\x0CJXL \r\n\x87\n", 12);
  const Provenance x = of(jxl + box("ftyp", "jxl 1234jxl ") + box("jxlc", "pixels") +
                          box("Exif", std::string(4, '\0') + camera(ByteOrder::big).build()) +
                          box("xml ", test_xmp("xmp:Rating=\"3\"", "")));
  expect_camera(x);
  EXPECT_EQ(x.rating, 3);
}

TEST_F(ProvenanceTest, CutAtEveryLength) {
  const std::string exif = described_camera_tiff(ByteOrder::big).build(),
                    little = described_camera_tiff(ByteOrder::little).build();
  const std::string xmp =
      test_xmp("xmp:Rating=\"4\"", "<dc:subject><rdf:Bag><rdf:li>c</rdf:li></rdf:Bag></dc:subject>");
  const std::string resources = image_resource(0x0404, iptc_dataset(25, "cat") + iptc_dataset(25, "dog"));
  cut_everywhere(
      jpeg_file(jpeg_segment(0xE1, std::string(kExifHead) + exif) + jpeg_segment(0xE1, std::string(kXmpHead) + xmp) +
                jpeg_segment(0xED, std::string(kResourcesHead) + resources)),
      "a.jpg");
  cut_everywhere(png_file(png_chunk("eXIf", little) + itxt("XML:com.adobe.xmp", xmp)), "a.png");
  cut_everywhere(webp_file(webp_chunk("EXIF", little) + webp_chunk("XMP ", xmp)), "a.webp");
  cut_everywhere(described_camera_tiff(ByteOrder::big).bytes(kMain, 700, xmp).bytes(kMain, 0x8649, resources).build(),
                 "a.nef");
  cut_everywhere(heif_file(false, 0), "a.heic");
  cut_everywhere(heif_file(true, 2), "b.heic");
}

TEST_F(ProvenanceTest, FilesFullOfHeadersCostNoMoreThanTheLimit) {
  // Endless segments, chunks and boxes: data after the limit are not read.
  const auto many = [](const std::string& piece) {
    std::string out;
    while (out.size() < kMaxMetadataBytes + (1 << 20)) out += piece;
    return out;
  };
  const std::string exif = jpeg_segment(0xE1, std::string(kExifHead) + camera(ByteOrder::big).build());
  EXPECT_EQ(of(jpeg_file(many(jpeg_segment(0xFE, "word")) + exif)).make, "");
  EXPECT_EQ(
      of(png_file(many(png_chunk("tEXt", std::string("k\0t", 3))) + png_chunk("eXIf", camera(ByteOrder::big).build())))
          .make,
      "");
  EXPECT_EQ(of(box("ftyp", "heic1234mif1") + many(box("free", "")) + box("meta", "")).make, "");
  EXPECT_EQ(of("\xFF\xD8" + many("\xFF")).make, "");
  EXPECT_EQ(of(box("ftyp", "heic1234mif1") + many(box("moov", box("uuid", "")))).make, "");
}

}  // namespace
}  // namespace millrace
