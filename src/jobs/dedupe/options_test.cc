#include "src/jobs/dedupe/options.h"

#include <gtest/gtest.h>

#include "src/base/error.h"
#include "src/jobs/dedupe/match/rule_search.h"

namespace millrace::dedupe {
namespace {

constexpr std::array<std::uint64_t, 6> kCounts = {0, 1'000'000, 1'500'000, 2'000'000, 5'000'000, 100'000'000};

// Returns the codes of two pictures that differ in so many bits of dhash and phash, and in none of the others.
std::pair<ThumbnailCodes, ThumbnailCodes> differing(int dhash, int phash) {
  const auto bits = [](int n) { return n == 0 ? 0 : ~std::uint64_t{0} >> (64 - n); };
  ThumbnailCodes a{}, b{};
  // Makes the middles unlike any whole.
  a[4] = a[5] = b[4] = b[5] = 0x5555'5555'5555'5555;
  b[slot_of(HashKind::dhash)] = bits(dhash);
  b[slot_of(HashKind::phash)] = bits(phash);
  return {a, b};
}

bool proposes(const MatchRule& rule, int dhash, int phash) {
  const auto [a, b] = differing(dhash, phash);
  return holds(rule, a, b);
}

TEST(AutoRule, IsTheSameUpToAMillionPictures) {
  for (const std::uint64_t pictures : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'000}})
    EXPECT_EQ(parse_rule("auto", true, pictures).text, parse_rule("auto", true).text);
}

TEST(AutoRule, EachIsAPartOfTheOneBeforeAndProposesLess) {
  for (std::size_t k = 1; k < kCounts.size(); ++k) {
    const MatchRule wide = parse_rule("auto", true, kCounts[k - 1]), tight = parse_rule("auto", true, kCounts[k]);
    EXPECT_TRUE(tight.middle);
    int proposed_by_wide = 0, proposed_by_tight = 0;
    for (int dhash = 0; dhash <= 64; ++dhash) {
      for (int phash = 0; phash <= 64; ++phash) {
        proposed_by_wide += proposes(wide, dhash, phash) ? 1 : 0;
        proposed_by_tight += proposes(tight, dhash, phash) ? 1 : 0;
        EXPECT_LE(proposes(tight, dhash, phash), proposes(wide, dhash, phash)) << dhash << " " << phash;
      }
    }
    if (kCounts[k] > 1'000'000) {
      EXPECT_LT(proposed_by_tight, proposed_by_wide) << kCounts[k];
    }
    EXPECT_TRUE(proposes(tight, 0, 0));
  }
}

TEST(AutoRule, AnExplicitRuleIsNotTightened) {
  EXPECT_EQ(parse_rule("phash<=8", true, 100'000'000).text, "phash<=8");
  EXPECT_EQ(parse_rule("auto", false, 100'000'000).text, parse_rule("auto", false).text);
}

TEST(ParseRule, ReportsWhatIsWrong) {
  for (const char* text :
       {"", "phash", "phash<=65", "phash<=-1", "phash<=x", "pdq<=3", "phash<=3,", "|phash<=3", "nothing<=3"})
    EXPECT_THROW(parse_rule(text, true), Failure) << text;
}

}  // namespace
}  // namespace millrace::dedupe
