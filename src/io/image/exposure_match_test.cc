#include "src/io/image/exposure_match.h"

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
ExposureMatch compared(const Provenance& a, const Provenance& b) {
  const ExposureMatch forth = compare_exposures(a, b);
  EXPECT_EQ(compare_exposures(b, a), forth);
  return forth;
}

TEST(ExposureMatchTest, TimesThatDifferAreTwoPresses) {
  EXPECT_EQ(compared(shot(kNoon), shot(kNext)), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon), shot("2031:01:01 00:00:00")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "10"), shot(kNext, "10")), ExposureMatch::different);
  EXPECT_EQ(compared(shot("1970:01:02 00:00:00"), shot("1969:12:31 23:59:59")), ExposureMatch::different);
  EXPECT_EQ(compared(shot("1955:01:01 00:00:00", "5"), shot("1955:01:01 00:00:00", "5")), ExposureMatch::same);
}

TEST(ExposureMatchTest, FractionsToTheDigitsOfBoth) {
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "25")), ExposureMatch::same);
  EXPECT_EQ(compared(shot(kNoon, "250"), shot(kNoon, "25")), ExposureMatch::same);
  EXPECT_EQ(compared(shot(kNoon, "257"), shot(kNoon, "25")), ExposureMatch::same);
  EXPECT_EQ(compared(shot(kNoon, " 25 "), shot(kNoon, "25")), ExposureMatch::same);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "26")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "3")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "05"), shot(kNoon, "5")), ExposureMatch::different) << "0.05 and 0.5";
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "5")), ExposureMatch::different);
}

TEST(ExposureMatchTest, EqualWholeSecondsProveNothing) {
  EXPECT_EQ(compared(shot(kNoon), shot(kNoon)), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon)), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "25"), shot(kNoon, "  ")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "2x"), shot(kNoon, "2x")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "-25"), shot(kNoon, "25")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "00")), ExposureMatch::unknown) << "some cameras always write it";
  EXPECT_EQ(compared(shot(kNoon, "00"), shot(kNoon, "000")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "0"), shot(kNoon, "05")), ExposureMatch::unknown);
}

TEST(ExposureMatchTest, Zones) {
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "5", "+02:00"), shot("2024:05:01 10:00:00", "5", "Z")),
            ExposureMatch::same);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "5", "+02:00"), shot("2024:05:01 12:00:00", "6", "+01:00")),
            ExposureMatch::different);
  EXPECT_EQ(compared(shot("2024:01:01 00:30:00", "5", "+01:00"), shot("2023:12:31 18:30:00", "5", "-05:00")),
            ExposureMatch::same)
      << "over the end of a year";
  EXPECT_EQ(compared(shot("2024:03:01 04:15:00", "5", "+05:45"), shot("2024:02:29 19:00:00", "5", "-03:30")),
            ExposureMatch::same)
      << "over a leap day";
  EXPECT_EQ(compared(shot("2023:03:01 00:15:00", "5", "+01:00"), shot("2023:02:28 23:15:00", "5", "+00:00")),
            ExposureMatch::same);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "", "+02:00"), shot("2024:05:01 10:00:01", "", "+00:00")),
            ExposureMatch::different);
  EXPECT_EQ(compared(shot("2024:05:01 12:00:00", "", "+02:00"), shot("2024:05:01 10:00:00", "", "+00:00")),
            ExposureMatch::unknown);
  // Local times are compared where only one has an offset, or an offset is invalid.
  for (const char* none : {"", "   :  ", "+2:00", "+02", "+25:00", "+02:60", "02:00", "UTC", "+ab:cd", "+02:00x"}) {
    EXPECT_EQ(compared(shot(kNoon, "5", "+02:00"), shot(kNoon, "5", none)), ExposureMatch::same) << none;
    EXPECT_EQ(compared(shot(kNoon, "5", none), shot("2024:05:01 10:00:00", "5", "Z")), ExposureMatch::unknown) << none;
    EXPECT_EQ(compared(shot(kNoon, "5", none), shot("2024:05:01 10:00:00", "6", "Z")), ExposureMatch::different)
        << none;
  }
}

TEST(ExposureMatchTest, AClockThatWasPutRight) {
  const auto exposed = [](Provenance p, std::uint64_t part) {
    p.exposure_time = {1, static_cast<std::uint32_t>(part)};
    return p;
  };
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00", "37")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2019:02:28 03:00:00", "37")), ExposureMatch::unknown);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00"), 60)), ExposureMatch::unknown)
      << "and a program dropped the fraction";
  // These pairs only resemble one exposure.
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00", "38")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:01", "37")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 12:30:00", "37")), ExposureMatch::different);
  EXPECT_EQ(compared(shot(kNoon, "37"), shot("2024:05:01 13:00:00")), ExposureMatch::different) << "nothing says so";
  EXPECT_EQ(compared(exposed(shot(kNoon), 60), exposed(shot("2024:05:01 13:00:00"), 60)), ExposureMatch::different)
      << "shots of every hour";
  EXPECT_EQ(compared(exposed(shot(kNoon, "00"), 60), exposed(shot("2024:05:01 13:00:00", "00"), 60)),
            ExposureMatch::different);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00", "37"), 125)),
            ExposureMatch::different);
  EXPECT_EQ(compared(exposed(shot(kNoon, "37"), 60), exposed(shot("2024:05:01 13:00:00"), 125)),
            ExposureMatch::different);
}

TEST(ExposureMatchTest, TheFirstDayOfClocksIsNoDate) {
  EXPECT_EQ(compared(shot(kNoon), shot("1970:01:01 00:00:00")), ExposureMatch::unknown);
  EXPECT_EQ(compared(shot("1970:01:01 00:00:00"), shot("1970:01:01 00:00:01")), ExposureMatch::unknown);
}

TEST(ExposureMatchTest, BracketsByTheirExposures) {
  Provenance a = shot(kNoon), b = shot(kNoon);
  a.exposure_time = {1, 60};
  b.exposure_time = {10, 600};
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);
  b.exposure_time = {16667, 1000000};
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown) << "rounded anew";
  b.exposure_time = {1, 75};
  EXPECT_EQ(compared(a, b), ExposureMatch::different);
  b.exposure_time = {0, 0};
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);

  a = b = shot(kNoon, "25");
  EXPECT_EQ(compared(a, b), ExposureMatch::same);
  a.exposure_bias = {0, 3};
  b.exposure_bias = {0, 1};
  EXPECT_EQ(compared(a, b), ExposureMatch::same);
  b.exposure_bias = {-1, 3};
  EXPECT_EQ(compared(a, b), ExposureMatch::different);
  b.exposure_bias = a.exposure_bias;
  a.f_number = {28, 10};
  b.f_number = {14, 5};
  EXPECT_EQ(compared(a, b), ExposureMatch::same);
  b.f_number = {32, 10};
  EXPECT_EQ(compared(a, b), ExposureMatch::different);
  b.f_number = {};
  a.iso = 100;
  EXPECT_EQ(compared(a, b), ExposureMatch::same);
  b.iso = 200;
  EXPECT_EQ(compared(a, b), ExposureMatch::different);
}

TEST(ExposureMatchTest, OtherCamerasAreNotCompared) {
  Provenance a = shot(kNoon, "5"), b = shot(kNoon, "5");
  b.model = "m1";
  EXPECT_EQ(compared(a, b), ExposureMatch::same) << "programs change the case";
  a.serial = "1";
  EXPECT_EQ(compared(a, b), ExposureMatch::same) << "one does not tell";
  b.serial = "1";
  EXPECT_EQ(compared(a, b), ExposureMatch::same);
  b.serial = "2";
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);
  b = a;
  b.model = "M2";
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);
  b.model = a.model;
  b.make = "Other";
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);
  a.make = b.make = a.model = b.model = "";
  EXPECT_EQ(compared(a, b), ExposureMatch::unknown);
  EXPECT_EQ(compared(Provenance(), Provenance()), ExposureMatch::unknown);
}

TEST(ExposureMatchTest, DatesThatAreNone) {
  for (const char* none : {"", "0000:00:00 00:00:00", "    :  :     :  :  ", "2024:13:01 00:00:00",
                           "2024:00:01 00:00:00", "2023:02:29 00:00:00", "1900:02:29 00:00:00", "2024:04:31 00:00:00",
                           "2024:04:00 00:00:00", "2024:05:01 24:00:00", "2024:05:01 12:60:00", "2024:05:01 12:00:61",
                           "1700:01:01 00:00:00", "2024:05:01", "yesterday", "2024:05:01 12:00"}) {
    EXPECT_EQ(compared(shot(none, "5"), shot(kNoon, "5")), ExposureMatch::unknown) << none;
    EXPECT_EQ(compared(shot(none, "5"), shot(none, "5")), ExposureMatch::unknown) << none;
  }
  EXPECT_EQ(compared(shot("2024:02:29 00:00:00", "5"), shot("2024:02:29 00:00:00", "5")), ExposureMatch::same);
  EXPECT_EQ(compared(shot("2000:02:29 00:00:00", "5"), shot("2000:02:29 00:00:00", "5")), ExposureMatch::same);
}

}  // namespace
}  // namespace millrace
