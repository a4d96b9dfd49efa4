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
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_text(1_KiB), "1.0 KiB");
  EXPECT_EQ(to_text(1_GiB + 512_MiB), "1.5 GiB");
  EXPECT_EQ(to_text(24_GiB), "24 GiB");
  EXPECT_EQ(to_text(Bytes{std::numeric_limits<std::uint64_t>::max()}), "16777216 TiB");
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(3.24), "3.2 s");
  EXPECT_EQ(duration_text(250), "4 min 10 s");
  EXPECT_EQ(duration_text(3599.7), "1 h 0 min");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
  EXPECT_EQ(duration_text(-1), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(rate_text(2.256), "2.26");
  EXPECT_EQ(rate_text(35.44), "35.4");
  EXPECT_EQ(rate_text(1209.7), "1,210");
  EXPECT_EQ(rate_text(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(rate_text(std::numeric_limits<double>::quiet_NaN()), "?");
}

TEST(Sizes, WhatIsPrintedReadsBack) {
  for (const Bytes bytes : {Bytes{17}, 3_KiB, 20_MiB, 6_GiB}) EXPECT_EQ(*parse_bytes(to_text(bytes)), bytes);
}

TEST(Sizes, ShortDurations) {
  EXPECT_EQ(short_duration_text(0.0001), "0.1 ms");
  EXPECT_EQ(short_duration_text(0.047), "47 ms");
  EXPECT_EQ(short_duration_text(0.96), "1.0 s");
}

}  // namespace
}  // namespace millrace
