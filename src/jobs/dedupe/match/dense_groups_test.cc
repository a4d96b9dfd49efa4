#include "src/jobs/dedupe/match/dense_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>

namespace millrace::dedupe {
namespace {

// Appearances whose codes are those of one picture with up to `bits` bits flipped.
struct Pictures {
  std::vector<std::uint64_t> appearances;
  std::vector<ThumbnailCodes> codes;

  void add(std::mt19937_64& random, const ThumbnailCodes& of, int bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      appearances.push_back(random());
      ThumbnailCodes& c = codes.emplace_back(of);
      for (int bit = 0; bit < bits; ++bit) c[random() % 4] ^= std::uint64_t{1} << random() % 64;
    }
  }
  // Sorts the appearances, as a library does.
  void sort() {
    std::map<std::uint64_t, ThumbnailCodes> sorted;
    for (std::size_t i = 0; i < appearances.size(); ++i) sorted.emplace(appearances[i], codes[i]);
    appearances.clear();
    codes.clear();
    for (const auto& [thumbnail_digest, c] : sorted) {
      appearances.push_back(thumbnail_digest);
      codes.push_back(c);
    }
  }
};

ThumbnailCodes random_codes(std::mt19937_64& random) {
  ThumbnailCodes out;
  for (std::uint64_t& code : out) code = random();
  return out;
}

class DenseGroupsTest : public testing::Test {
 protected:
  DenseGroups find_dense_groups_of(const Pictures& pictures, int threads = 2) {
    const Executor executor(threads);
    RunContext context{executor, cancel_, trace_, budget_};
    CodeColumns columns;
    for (const ThumbnailCodes& c : pictures.codes) columns.add(c);
    std::optional<DenseGroups> out;
    executor.run([&] { out = find_dense_groups(pictures.appearances, columns, rule_, context); });
    return *out;
  }
  // Counts, for each appearance, the pairs that are compared among those that satisfy the rule.
  std::vector<std::size_t> are_compared(const Pictures& p, const DenseGroups& dense_groups) {
    std::vector<std::size_t> out(p.appearances.size(), 0);
    std::vector<DenseGroups::Levels> levels;
    for (const std::uint64_t thumbnail_digest : p.appearances)
      levels.push_back(dense_groups.levels_of(thumbnail_digest));
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!holds(rule_, p.codes[i], p.codes[j])) continue;
        const bool one =
            DenseGroups::are_compared(p.appearances[i], levels[i], p.codes[i], p.appearances[j], levels[j], p.codes[j]);
        EXPECT_EQ(one, DenseGroups::are_compared(p.appearances[j], levels[j], p.codes[j], p.appearances[i], levels[i],
                                                 p.codes[i]));
        out[i] += one ? 1 : 0;
        out[j] += one ? 1 : 0;
      }
    }
    return out;
  }

  const MatchRule rule_ = parse_rule("auto", true);
  CancelToken cancel_;
  Trace trace_;
  Budget budget_{1_GiB};
  std::mt19937_64 random_{1};
};

TEST_F(DenseGroupsTest, AHundredSimilarPicturesAreNoDenseGroup) {
  Pictures pictures;
  for (int scene = 0; scene < 20; ++scene) pictures.add(random_, random_codes(random_), 3, 100);
  pictures.sort();
  EXPECT_TRUE(find_dense_groups_of(pictures).empty());
}

TEST_F(DenseGroupsTest, InADenseGroupAllAreComparedWithTheSameFew) {
  constexpr std::size_t kMany = 4000;
  Pictures pictures;
  pictures.add(random_, random_codes(random_), 3, kMany);
  pictures.add(random_, random_codes(random_), 3, 50);  // an unrelated picture
  pictures.sort();
  const DenseGroups dense_groups = find_dense_groups_of(pictures);
  EXPECT_EQ(dense_groups.members().size(), kMany);
  const std::vector<std::size_t> with = are_compared(pictures, dense_groups);
  std::size_t all = 0, inside = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (!dense_groups.holds(pictures.appearances[i])) {
      EXPECT_EQ(with[i], 49U) << "of the other picture every two are compared";
      continue;
    }
    ++inside;
    all += with[i];
    EXPECT_GE(with[i], kMaxComparedPerDistance / 2) << "nobody is alone";
  }
  // At most kMaxComparedPerDistance comparisons per occurring distance, counted from both sides.
  EXPECT_LT(all / inside, std::size_t{2} * 5 * kMaxComparedPerDistance);
}

// Two frames of a video may be the same picture: no other member of the dense group is as near.
TEST_F(DenseGroupsTest, VeryNearPicturesAreAllCompared) {
  Pictures pictures;
  const ThumbnailCodes base_codes = random_codes(random_);
  pictures.add(random_, base_codes, 6, 3000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> twins;
  for (std::size_t i = 0; i < 200; ++i) {
    const ThumbnailCodes of = pictures.codes[i];
    pictures.add(random_, of, i % 2 == 0 ? 0 : 1, 1);
    twins.emplace_back(pictures.appearances[i], pictures.appearances.back());
  }
  std::map<std::uint64_t, ThumbnailCodes> codes;
  for (std::size_t i = 0; i < pictures.appearances.size(); ++i) codes[pictures.appearances[i]] = pictures.codes[i];
  pictures.sort();
  const DenseGroups dense_groups = find_dense_groups_of(pictures);
  std::size_t dense_count = 0;
  for (const auto& [a, b] : twins) {
    dense_count += dense_groups.holds(a) ? 1 : 0;
    EXPECT_TRUE(
        DenseGroups::are_compared(a, dense_groups.levels_of(a), codes[a], b, dense_groups.levels_of(b), codes[b]));
  }
  EXPECT_GT(dense_count, 100U) << "else this tells nothing";
}

TEST_F(DenseGroupsTest, TheLibraryAloneDecides) {
  Pictures pictures;
  pictures.add(random_, random_codes(random_), 4, 2000);
  pictures.add(random_, random_codes(random_), 4, 500);
  pictures.sort();
  const DenseGroups once = find_dense_groups_of(pictures, 1), again = find_dense_groups_of(pictures, 4);
  ASSERT_EQ(once.members().size(), again.members().size());
  ASSERT_FALSE(once.empty());
  for (std::size_t i = 0; i < once.members().size(); ++i) {
    EXPECT_EQ(once.members()[i].thumbnail_digest, again.members()[i].thumbnail_digest);
    EXPECT_EQ(once.members()[i].levels, again.members()[i].levels);
  }
}

TEST_F(DenseGroupsTest, TheOrderOfAppearancesDoesNotMatter) {
  Pictures pictures;
  pictures.add(random_, random_codes(random_), 4, 2000);
  Pictures sorted = pictures;
  sorted.sort();
  const DenseGroups dense_groups = find_dense_groups_of(pictures), of_sorted = find_dense_groups_of(sorted);
  ASSERT_GT(dense_groups.members().size(), 1000U);
  for (const std::uint64_t thumbnail_digest : pictures.appearances) {
    EXPECT_EQ(dense_groups.holds(thumbnail_digest), of_sorted.holds(thumbnail_digest));
    EXPECT_EQ(dense_groups.levels_of(thumbnail_digest), of_sorted.levels_of(thumbnail_digest));
  }
}

}  // namespace
}  // namespace millrace::dedupe
