// Input: nothing.
// Output: metadata of a camera and of people in the bytes of a file, and a test fixture that reads them back.
// Never: part of the program.
#pragma once

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/image/provenance.h"
#include "src/io/test_pictures.h"

namespace millrace {

constexpr std::string_view kExifHead("Exif\0\0", 6), kXmpHead("http://ns.adobe.com/xap/1.0/\0", 29),
    kResourcesHead("Photoshop 3.0\0", 14);

inline std::string wide_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += std::string{c, '\0'};
  return out + std::string(2, '\0');
}

inline TestTiff camera(ByteOrder order, bool wide = false) {
  TestTiff tiff(order, wide);
  tiff.ascii(TiffDirectory::main, 0x010F, "Maker")
      .ascii(TiffDirectory::main, 0x0110, "Model 1 ")
      .ascii(TiffDirectory::main, 0x0131, "Ver.1.00");
  tiff.ascii(TiffDirectory::main, 0x010E, "OLYMPUS DIGITAL CAMERA         ");
  tiff.ascii(TiffDirectory::exif, 0x9003, "2024:05:01 12:30:00")
      .ascii(TiffDirectory::exif, 0x9291, "250")
      .ascii(TiffDirectory::exif, 0x9011, "+02:00");
  tiff.ascii(TiffDirectory::exif, 0xA431, "0042").bytes(TiffDirectory::exif, 0x927C, "notes of the maker");
  tiff.rational(TiffDirectory::exif, 0x829A, {{1, 60}})
      .rational(TiffDirectory::exif, 0x829D, {{28, 10}})
      .rational(TiffDirectory::exif, 0x9204, {{-1, 3}}, 10);
  tiff.whole(TiffDirectory::exif, 0x8827, 400)
      .whole(TiffDirectory::exif, 0xA002, 4000, 4)
      .whole(TiffDirectory::exif, 0xA003, 3000);
  return tiff;
}

inline TestTiff described_camera_tiff(ByteOrder order) {
  TestTiff tiff = camera(order);
  tiff.whole(TiffDirectory::main, 0x4746, 4)
      .bytes(TiffDirectory::main, 0x9C9B, wide_text("Title"), 1)
      .bytes(TiffDirectory::main, 0x9C9E, wide_text("a; b;;c;"), 1);
  tiff.bytes(TiffDirectory::exif, 0x9286, std::string("ASCII\0\0\0a comment", 17));
  tiff.rational(TiffDirectory::gps, 2, {{48, 1}, {8, 1}, {0, 1}})
      .rational(TiffDirectory::gps, 4, {{11, 1}, {34, 1}, {0, 1}});
  return tiff;
}

class ProvenanceTest : public testing::Test {
 protected:
  Provenance of(const std::string& bytes, const std::string& name = "a") {
    auto read = read_provenance(folder_.write(name, bytes));
    EXPECT_TRUE(read);
    return read ? *read : Provenance();
  }
  Provenance of_exif(const TestTiff& tiff) {
    return of(jpeg_file(jpeg_segment(0xE1, std::string(kExifHead) + tiff.build())));
  }
  Provenance of_xmp(const std::string& packet) {
    return of(jpeg_file(jpeg_segment(0xE1, std::string(kXmpHead) + packet)));
  }

  // Checks that no truncated file yields a false fact: every fact is absent or that of the whole file.
  void cut_everywhere(const std::string& whole, const std::string& name) {
    const Provenance all = of(whole, name);
    for (std::size_t n = whole.size(); n-- > 0;) {
      std::filesystem::resize_file(folder_.at(name), n);
      const Provenance cut = *read_provenance(folder_.at(name));
      const auto or_absent = [&](const std::string& part, const std::string& of_all) {
        EXPECT_TRUE(part.empty() || part == of_all) << name << " " << n << ": " << part;
      };
      or_absent(cut.make, all.make);
      or_absent(cut.model, all.model);
      or_absent(cut.serial, all.serial);
      or_absent(cut.taken, all.taken);
      EXPECT_TRUE(cut.rating == 0 || cut.rating == all.rating);
      EXPECT_LE(cut.keywords, all.keywords);
      EXPECT_LE(cut.people, all.people);
      EXPECT_TRUE(!cut.exposure_time.is_known() || cut.exposure_time == all.exposure_time);
      EXPECT_TRUE(cut.iso == 0 || cut.iso == all.iso);
    }
  }

  TestFolder folder_;
};

inline void expect_camera(const Provenance& p) {
  EXPECT_EQ(p.make, "Maker");
  EXPECT_EQ(p.model, "Model 1");
  EXPECT_EQ(p.serial, "0042");
  EXPECT_TRUE(p.maker_note);
  EXPECT_EQ(p.software, "Ver.1.00");
  EXPECT_FALSE(p.edited_by_program);
  EXPECT_EQ(p.taken, "2024:05:01 12:30:00");
  EXPECT_EQ(p.subsecond, "250");
  EXPECT_EQ(p.offset, "+02:00");
  EXPECT_EQ(p.exposure_time, (Rational{1, 60}));
  EXPECT_EQ(p.f_number, (Rational{28, 10}));
  EXPECT_EQ(p.exposure_bias, (Rational{-1, 3}));
  EXPECT_EQ(p.iso, 400U);
  EXPECT_EQ(p.exif_width, 4000U);
  EXPECT_EQ(p.exif_height, 3000U);
}

}  // namespace millrace
