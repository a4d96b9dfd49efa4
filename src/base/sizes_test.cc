#include "src/base/sizes.h"

#include <gtest/gtest.h>

#include <limits>

namespace millrace {
namespace {

TEST(Sizes, Parses) {
  struct Case {
    const char* text;
    std::uint64_t bytes;
  };
  for (const auto& [text, bytes] :
       {Case{"0", 0}, Case{"4096", 4096}, Case{"4096b", 4096}, Case{"1k", 1024}, Case{"1K", 1024}, Case{"1KB", 1024},
        Case{"1KiB", 1024}, Case{"1 kib", 1024}, Case{"512M", 512ULL << 20}, Case{"2GiB", 2ULL << 30},
        Case{"1.5G", 3ULL << 29}, Case{"3T", 3ULL << 40}, Case{"0.5k", 512}, Case{"1.9", 1}}) {
    const auto parsed = parse_bytes(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->count, bytes) << text;
  }
}

TEST(Sizes, RefusesWithTheReason) {
  for (const char* text :
       {"", "G", "-1", "-1G", "nan", "inf", "1x", "1 2", "1PB", "0x10", "9000000T", "1e300", "auto", "+1"}) {
    const auto parsed = parse_bytes(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::usage);
    EXPECT_NE(parsed.error().what.find('\'' + std::string(text) + '\''), std::string::npos) << parsed.error().what;
    EXPECT_FALSE(parsed.error().remedy.empty());
  }
}

TEST(Sizes, InWords) {
  EXPECT_EQ(format_bytes(Bytes{0}), "0 B");
  EXPECT_EQ(format_bytes(Bytes{1023}), "1023 B");
  EXPECT_EQ(format_bytes(1_KiB), "1.0 KiB");
  EXPECT_EQ(format_bytes(1_GiB + 512_MiB), "1.5 GiB");
  EXPECT_EQ(format_bytes(24_GiB), "24 GiB");
  EXPECT_EQ(format_bytes(Bytes{std::numeric_limits<std::uint64_t>::max()}), "16777216 TiB");
  EXPECT_EQ(format_duration(0), "0.0 s");
  EXPECT_EQ(format_duration(3.24), "3.2 s");
  EXPECT_EQ(format_duration(250), "4 min 10 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 0 min");
  EXPECT_EQ(format_duration(7500), "2 h 5 min");
  EXPECT_EQ(format_duration(-1), "?");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(group_digits(0), "0");
  EXPECT_EQ(group_digits(999), "999");
  EXPECT_EQ(group_digits(1000), "1,000");
  EXPECT_EQ(group_digits(1234567), "1,234,567");
  EXPECT_EQ(format_rate(2.256), "2.26");
  EXPECT_EQ(format_rate(35.44), "35.4");
  EXPECT_EQ(format_rate(1209.7), "1,210");
  EXPECT_EQ(format_rate(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(format_rate(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Sizes, WhatIsPrintedReadsBack) {
  for (const Bytes bytes : {Bytes{17}, 3_KiB, 20_MiB, 6_GiB}) EXPECT_EQ(*parse_bytes(format_bytes(bytes)), bytes);
}

TEST(Sizes, ShortDurations) {
  EXPECT_EQ(format_short_duration(0.0001), "0.1 ms");
  EXPECT_EQ(format_short_duration(0.047), "47 ms");
  EXPECT_EQ(format_short_duration(0.96), "1.0 s");
}

}  // namespace
}  // namespace millrace
