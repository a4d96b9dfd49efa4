#include "src/io/image/shutter.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

Provenance shot(const std::string& taken, const std::string& subsecond = "", const std::string& offset = "") {
  Provenance p;
  p.make = "Maker";
  p.model = "M1";
  p.taken = taken;
  p.subsecond = subsecond;
  p.offset = offset;
  return p;
}

const std::string kNoon = "2024:05:01 12:00:00", kNext = "2024:05:01 12:00:01";

// Compares both ways round, which must agree.
SameShutter compared(const Provenance& a, const Provenance& b) {
  const SameShutter forth = same_shutter(a, b);
  EXPECT_EQ(same_shutter(b, a), forth);
  return forth;
}

TEST(Shutter, TimesThatDifferAreTwoPresses) {
  EXPECT_EQ(compared(shot(kNoon), shot(kNext)), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon), shot("2031:01:01 00:00:00")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "10"), shot(kNext, "10")), SameShutter::different);
  EXPECT_EQ(compared(shot("1970:01:02 00:00:00"), shot("1969:12:31 23:59:59")), SameShutter::different);
  EXPECT_EQ(compared(shot("1955:01:01 00:00:00", "5"), shot("1955:01:01 00:00:00", "5")), SameShutter::same);
}

TEST(Shutter, FractionsToTheDigitsOfBoth) {
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "25")), SameShutter::same);
  EXPECT_EQ(compared(shot(kNoon, "250"), shot(kNoon, "25")), SameShutter::same);
  EXPECT_EQ(compared(shot(kNoon, "257"), shot(kNoon, "25")), SameShutter::same);
  EXPECT_EQ(compared(shot(kNoon, " 25 "), shot(kNoon, "25")), SameShutter::same);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "26")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "3")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "05"), shot(kNoon, "5")), SameShutter::different) << "0.05 and 0.5";
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "5")), SameShutter::different);
}

TEST(Shutter, EqualWholeSecondsProveNothing) {
  EXPECT_EQ(compared(shot(kNoon), shot(kNoon)), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon)), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "  ")), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "2x"), shot(kNoon, "2x")), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "-25"), shot(kNoon, "25")), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "00")), SameShutter::unknown) << "some cameras always write it";
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "000")), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "0"), shot(kNoon, "05")), SameShutter::unknown);
}

TEST(Shutter, Zones) {
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "5", "+02:00"), shot("2024:05:01 10:00:00", "5", "Z")),
            SameShutter::same);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "5", "+02:00"), shot("2024:05:01 12:00:00", "6", "+01:00")),
            SameShutter::different);
  EXPECT_EQ(compared(shot("2024:01:01 00:30:00", "5", "+01:00"), shot("2023:12:31 18:30:00", "5", "-05:00")),
            SameShutter::same)
      << "over the end of a year";
  EXPECT_EQ(compared(shot("2024:03:01 04:15:00", "5", "+05:45"), shot("2024:02:29 19:00:00", "5", "-03:30")),
            SameShutter::same)
      << "over a leap day";
  EXPECT_EQ(compared(shot("2023:03:01 00:15:00", "5", "+01:00"), shot("2023:02:28 23:15:00", "5", "+00:00")),
            SameShutter::same);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "", "+02:00"), shot("2024:05:01 10:00:01", "", "+00:00")),
            SameShutter::different);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "", "+02:00"), shot("2024:05:01 10:00:00", "", "+00:00")),
            SameShutter::unknown);
  // Local times are compared where only one has an offset, or an offset is invalid.
  for (const char* none : {"", "   :  ", "+2:00", "+02", "+25:00", "+02:60", "02:00", "UTC", "+ab:cd", "+02:00x"}) {
    EXPECT_EQ(compared(shot(kNoon, "5", "+02:00"), shot(kNoon, "5", none)), SameShutter::same) << none;
    EXPECT_EQ(compared(shot(kNoon, "5", none), shot("2024:05:01 10:00:00", "5", "Z")), SameShutter::unknown) << none;
    EXPECT_EQ(compared(shot(kNoon, "5", none), shot("2024:05:01 10:00:00", "6", "Z")), SameShutter::different) << none;
  }
}

TEST(Shutter, AClockThatWasPutRight) {
  const auto exposed = [](Provenance p, std::uint64_t part) {
    p.exposure_time = {1, static_cast<std::uint32_t>(part)};
    return p;
  };
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00", "37")), SameShutter::unknown);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2019:02:28 03:00:00", "37")), SameShutter::unknown);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00"), 60)), SameShutter::unknown)
      << "and a program dropped the fraction";
  // These pairs only resemble one exposure.
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00", "38")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:01", "37")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 12:30:00", "37")), SameShutter::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00")), SameShutter::different) << "nothing says so";
  EXPECT_EQ(compared(exposed(shot(kNoon), 60), exposed(shot("2024:05:01 13:00:00"), 60)), SameShutter::different)
      << "shots of every hour";
  EXPECT_EQ(compared(exposed(shot(kNoon, "00"), 60), exposed(shot("2024:05:01 13:00:00", "00"), 60)),
            SameShutter::different);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00", "37"), 125)),
            SameShutter::different);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00"), 125)),
            SameShutter::different);
}

TEST(Shutter, TheFirstDayOfClocksIsNoDate) {
  EXPECT_EQ(compared(shot(kNoon), shot("1970:01:01 00:00:00")), SameShutter::unknown);
  EXPECT_EQ(compared(shot("1970:01:01 00:00:00"), shot("1970:01:01 00:00:01")), SameShutter::unknown);
}

TEST(Shutter, BracketsByTheirExposures) {
  Provenance a = shot(kNoon), b = shot(kNoon);
  a.exposure_time = {1, 60};
  b.exposure_time = {10, 600};
  EXPECT_EQ(compared(a, b), SameShutter::unknown);
  b.exposure_time = {16667, 1000000};
  EXPECT_EQ(compared(a, b), SameShutter::unknown) << "rounded anew";
  b.exposure_time = {1, 75};
  EXPECT_EQ(compared(a, b), SameShutter::different);
  b.exposure_time = {0, 0};
  EXPECT_EQ(compared(a, b), SameShutter::unknown);

  a = b = shot(kNoon, "25");
  EXPECT_EQ(compared(a, b), SameShutter::same);
  a.exposure_bias = {0, 3};
  b.exposure_bias = {0, 1};
  EXPECT_EQ(compared(a, b), SameShutter::same);
  b.exposure_bias = {-1, 3};
  EXPECT_EQ(compared(a, b), SameShutter::different);
  b.exposure_bias = a.exposure_bias;
  a.f_number = {28, 10};
  b.f_number = {14, 5};
  EXPECT_EQ(compared(a, b), SameShutter::same);
  b.f_number = {32, 10};
  EXPECT_EQ(compared(a, b), SameShutter::different);
  b.f_number = {};
  a.iso = 100;
  EXPECT_EQ(compared(a, b), SameShutter::same);
  b.iso = 200;
  EXPECT_EQ(compared(a, b), SameShutter::different);
}

TEST(Shutter, OtherCamerasAreNotCompared) {
  Provenance a = shot(kNoon, "5"), b = shot(kNoon, "5");
  b.model = "m1";
  EXPECT_EQ(compared(a, b), SameShutter::same) << "programs change the case";
  a.serial = "1";
  EXPECT_EQ(compared(a, b), SameShutter::same) << "one does not tell";
  b.serial = "1";
  EXPECT_EQ(compared(a, b), SameShutter::same);
  b.serial = "2";
  EXPECT_EQ(compared(a, b), SameShutter::unknown);
  b = a;
  b.model = "M2";
  EXPECT_EQ(compared(a, b), SameShutter::unknown);
  b.model = a.model;
  b.make = "Other";
  EXPECT_EQ(compared(a, b), SameShutter::unknown);
  a.make = b.make = a.model = b.model = "";
  EXPECT_EQ(compared(a, b), SameShutter::unknown);
  EXPECT_EQ(compared(Provenance(), Provenance()), SameShutter::unknown);
}

TEST(Shutter, DatesThatAreNone) {
  for (const char* none : {"", "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:01 00:00:00",
                           "2024:00:01 00:00:00", "2023:02:29 00:00:00", "1900:02:29 00:00:00", "2024:04:31 00:00:00",
                           "2024:04:00 00:00:00", "2024:05:01 24:00:00", "2024:05:01 12:60:00", "2024:05:01 12:00:61",
                           "1700:01:01 00:00:00", "2024:05:01", "yesterday", "2024:05:01 12:00"}) {
    EXPECT_EQ(compared(shot(none, "5"), shot(kNoon, "5")), SameShutter::unknown) << none;
    EXPECT_EQ(compared(shot(none, "5"), shot(none, "5")), SameShutter::unknown) << none;
  }
  EXPECT_EQ(compared(shot("2024:02:29 00:00:00", "5"), shot("2024:02:29 00:00:00", "5")), SameShutter::same);
  EXPECT_EQ(compared(shot("2000:02:29 00:00:00", "5"), shot("2000:02:29 00:00:00", "5")), SameShutter::same);
}

}  // namespace
}  // namespace millrace
