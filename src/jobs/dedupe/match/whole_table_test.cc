#include "src/jobs/dedupe/match/whole_table.h"

#include <gtest/gtest.h>

#include <random>

namespace millrace::dedupe {
namespace {

// Codes in families whose keys, signs, chromas and aspect ratios are near one another.
std::vector<parts::Codes> some_codes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<parts::Codes> out(count);
  for (parts::Codes& c : out) {
    const auto code = [&] {
      parts::Code v = 0x7E80123456789ABC + (random() % 3 << 48) + (random() % 8 << 56);
      for (std::uint64_t flips = random() % 9; flips > 0; --flips) v ^= parts::Code{1} << random() % parts::kSigns;
      return random() % 5 == 0 ? parts::kSilent : v;
    };
    c.whole = code();
    unsigned doubtful = 0;
    while (std::popcount(doubtful) < parts::kDoubtful) doubtful |= 1U << random() % parts::kKeyBits;
    c.doubtful = static_cast<std::uint16_t>(doubtful);
    c.sides = static_cast<std::int8_t>(static_cast<int>(random() % 24) - 12);
    for (parts::Code& part : c.parts) part = code();
    for (std::int8_t& box : c.boxes) box = static_cast<std::int8_t>(static_cast<int>(random() % 200) - 100);
  }
  return out;
}

std::vector<WholeMatch> every_two(const std::vector<parts::Codes>& parted, const std::vector<parts::Codes>& wholes) {
  std::vector<WholeMatch> out;
  for (std::uint32_t a = 0; a < parted.size(); ++a) {
    for (std::uint32_t b = 0; b < wholes.size(); ++b) {
      for (std::size_t p = 0; p < parts::kParts; ++p) {
        if (!parts::meet(parted[a], p, wholes[b])) continue;
        out.push_back({a, b});
        break;
      }
    }
  }
  return out;
}

TEST(WholeTable, FindsWhatEveryTwoComparedFind) {
  const auto parted = some_codes(2500, 1), wholes = some_codes(300, 2);
  const auto expected = every_two(parted, wholes);
  ASSERT_GT(expected.size(), 1000U);
  ASSERT_LT(expected.size(), parted.size() * wholes.size());
  for (const int threads : {1, 2, 5}) {
    const Executor executor(threads);
    EXPECT_EQ(WholeTable(wholes, executor).meetings(parted, executor), expected) << threads;
  }
}

TEST(WholeTable, OfNothingFindsNothing) {
  const Executor executor(1);
  const auto some = some_codes(10, 3);
  EXPECT_TRUE(WholeTable({}, executor).meetings(some, executor).empty());
  EXPECT_TRUE(WholeTable(some, executor).meetings({}, executor).empty());
  EXPECT_TRUE(WholeTable(std::vector<parts::Codes>(3), executor).meetings(some, executor).empty());
}

// An edited catalog may claim that all sixteen signs of every whole's key are in doubt.
TEST(WholeTable, PassesOverWhatNoPictureHas) {
  const Executor executor(1);
  auto wholes = some_codes(50, 4);
  for (parts::Codes& c : wholes) c.doubtful = 0xFFFF;
  EXPECT_TRUE(WholeTable(wholes, executor).meetings(some_codes(50, 5), executor).empty());
}

}  // namespace
}  // namespace millrace::dedupe
