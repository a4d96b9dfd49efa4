#include "src/jobs/dedupe/match/whole_picture_table.h"

#include <gtest/gtest.h>

#include <random>

namespace millrace::dedupe {
namespace {

// Codes in families whose keys, signs, chromas and aspect ratios are near one another.
std::vector<crops::CropCodes> some_codes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<crops::CropCodes> out(count);
  for (crops::CropCodes& c : out) {
    const auto code = [&] {
      crops::CropCode v = 0x7E80123456789ABC + (random() % 3 << 48) + (random() % 8 << 56);
      for (std::uint64_t flips = random() % 9; flips > 0; --flips) v ^= crops::CropCode{1} << random() % crops::kSigns;
      return random() % 5 == 0 ? crops::kSilent : v;
    };
    c.whole = code();
    unsigned doubtful = 0;
    while (std::popcount(doubtful) < crops::kDoubtful) doubtful |= 1U << random() % crops::kKeyBits;
    c.doubtful = static_cast<std::uint16_t>(doubtful);
    c.sides = static_cast<std::int8_t>(static_cast<int>(random() % 24) - 12);
    for (crops::CropCode& part : c.parts) part = code();
    for (std::int8_t& box : c.boxes) box = static_cast<std::int8_t>(static_cast<int>(random() % 200) - 100);
  }
  return out;
}

std::vector<CropWholePair> every_two(const std::vector<crops::CropCodes>& parted,
                                     const std::vector<crops::CropCodes>& wholes) {
  std::vector<CropWholePair> out;
  for (std::uint32_t a = 0; a < parted.size(); ++a) {
    for (std::uint32_t b = 0; b < wholes.size(); ++b) {
      for (std::size_t p = 0; p < crops::kCropCount; ++p) {
        if (!crops::can_match(parted[a], p, wholes[b])) continue;
        out.push_back({a, b});
        break;
      }
    }
  }
  return out;
}

TEST(WholePictureTable, FindsWhatEveryTwoComparedFind) {
  const auto parted = some_codes(2500, 1), wholes = some_codes(300, 2);
  const auto expected = every_two(parted, wholes);
  ASSERT_GT(expected.size(), 1000U);
  ASSERT_LT(expected.size(), parted.size() * wholes.size());
  for (const int threads : {1, 2, 5}) {
    const Executor executor(threads);
    EXPECT_EQ(WholePictureTable(wholes, executor).find_pairs(parted, executor), expected) << threads;
  }
}

TEST(WholePictureTable, OfNothingFindsNothing) {
  const Executor executor(1);
  const auto some = some_codes(10, 3);
  EXPECT_TRUE(WholePictureTable({}, executor).find_pairs(some, executor).empty());
  EXPECT_TRUE(WholePictureTable(some, executor).find_pairs({}, executor).empty());
  EXPECT_TRUE(WholePictureTable(std::vector<crops::CropCodes>(3), executor).find_pairs(some, executor).empty());
}

// An edited catalog may claim that all sixteen signs of every whole's key are in doubt.
TEST(WholePictureTable, PassesOverWhatNoPictureHas) {
  const Executor executor(1);
  auto wholes = some_codes(50, 4);
  for (crops::CropCodes& c : wholes) c.doubtful = 0xFFFF;
  EXPECT_TRUE(WholePictureTable(wholes, executor).find_pairs(some_codes(50, 5), executor).empty());
}

}  // namespace
}  // namespace millrace::dedupe
