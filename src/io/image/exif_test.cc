#include "src/io/image/exif.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

Exif parse(const std::string& block) {
  return parse_exif({reinterpret_cast<const std::uint8_t*>(block.data()), block.size()});
}

TEST(Exif, ReadsWithAndWithoutTheHeaderOfJpeg) {
  for (int o = 1; o <= 8; ++o) {
    for (const std::string& header : {std::string(), std::string("Exif\0\0", 6)}) {
      const Exif exif = parse(header + test_exif(o));
      EXPECT_EQ(exif.orientation, static_cast<Orientation>(o));
      EXPECT_EQ(exif.taken, "2024:05:01 12:30:00");
    }
  }
}

TEST(Exif, AnOrientationThatIsNoneIsUpright) {
  for (const int o : {0, 9, 127}) EXPECT_EQ(parse(test_exif(o)).orientation, Orientation::upright);
}

TEST(Exif, AnOrientationOfAnotherTypeIsNone) {
  constexpr std::uint16_t kOrientation = 0x0112, kByte = 1, kShort = 3, kLong = 4;
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    for (const auto& [type, expected] : {std::pair{kByte, Orientation::upright}, std::pair{kLong, Orientation::upright},
                                         std::pair{kShort, static_cast<Orientation>(6)}}) {
      const std::string block = TestTiff(order).whole(TiffDirectory::main, kOrientation, 6, type).build();
      EXPECT_EQ(parse(block).orientation, expected) << type;
    }
  }
}

TEST(Exif, NeverFails) {
  const std::string whole = test_exif(6);
  for (std::size_t n = 0; n <= whole.size(); ++n) (void)parse(whole.substr(0, n));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ 1 << bit);
      (void)parse(broken);
    }
  }
  // A directory that names itself as the next one.
  std::string loop = whole;
  loop[30] = '\x08';
  (void)parse(loop);
}

TEST(Exif, CaptureTimeInSeconds) {
  EXPECT_EQ(parse_fractional_capture_second("1970:01:01 00:00:00", ""), 0);
  EXPECT_EQ(parse_fractional_capture_second("2024:02:29 00:00:00", "") + 86400,
            parse_fractional_capture_second("2024:03:01 00:00:00", ""));
  EXPECT_EQ(parse_fractional_capture_second("2024:12:31 23:59:59", "5"),
            parse_fractional_capture_second("2025:01:01 00:00:00", "") - 0.5);
  EXPECT_EQ(parse_capture_second("2024:05:01 12:30:00"), 1'714'566'600);
  EXPECT_EQ(parse_capture_second("1969:12:31 23:59:59"), -1);
  for (const char* none :
       {"", "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:01 00:00:00", "2023:02:29 00:00:00", "yesterday"}) {
    EXPECT_LT(parse_fractional_capture_second(none, ""), 0) << none;
    EXPECT_EQ(parse_capture_second(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace millrace
