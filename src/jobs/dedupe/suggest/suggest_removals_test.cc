// Tests of the suggestions, given the results of the detailed check of each pair.
#include "src/jobs/dedupe/suggest/suggest_removals.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace::dedupe {
namespace {

using detailed_check::Containment;
using detailed_check::DifferenceKind;

// Returns the results that a test defined; all other pairs are different pictures.
class Scripted : public PairComparator {
 public:
  void set_result(std::uint32_t a, std::uint32_t b, const Comparison& comparison) { results_[{a, b}] = comparison; }
  void same(std::uint32_t a, std::uint32_t b) {
    set_result(a, b, {.seen = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 1});
  }
  // Makes `part` a crop of `whole`, which has `scale` pixels for each of the crop's.
  void part(std::uint32_t part, std::uint32_t whole, float scale) {
    if (part < whole) {
      set_result(part, whole,
                 {.seen = true, .kind = DifferenceKind::same, .contained = Containment::first, .scale = scale});
    } else {
      set_result(whole, part,
                 {.seen = true, .kind = DifferenceKind::same, .contained = Containment::second, .scale = 1 / scale});
    }
  }
  void check(std::span<const PicturePair> pairs) override {
    for (const auto& [a, b] : pairs) checked_.insert({std::min(a, b), std::max(a, b)});
  }
  const Comparison* find(std::uint32_t a, std::uint32_t b) const override {
    const PicturePair key{std::min(a, b), std::max(a, b)};
    if (checked_.count(key) == 0) return nullptr;
    const auto at = results_.find(key);
    return at == results_.end() ? &different_ : &at->second;
  }
  std::uint64_t compared_pairs() const override { return checked_.size(); }

 private:
  std::map<PicturePair, Comparison> results_;
  std::set<PicturePair> checked_;
  Comparison different_{.seen = true};
};

class Suggest : public testing::Test {
 protected:
  void pictures(std::uint32_t count) {
    for (std::uint32_t p = 0; p < count; ++p) {
      LibraryPicture picture;
      picture.files = {p};
      library_.pictures.push_back(picture);
      LibraryFile file;
      file.picture = p;
      library_.files.push_back(file);
    }
  }
  CandidateSet all() const {
    CandidateSet out;
    for (std::uint32_t p = 0; p < library_.pictures.size(); ++p) out.push_back(p);
    return out;
  }
  std::vector<std::vector<std::uint32_t>> sets_of(const RemovalSuggestions& suggested) const {
    std::vector<std::vector<std::uint32_t>> out;
    for (const DuplicateSet& set : suggested.sets) {
      out.push_back(set.pictures);
      for (const DuplicateSet::Kept& kept : set.also_kept) std::erase(out.back(), kept.picture);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  RemovalSuggestions run(const std::vector<CandidateSet>& candidates) {
    return suggest_removals(candidates, across_, library_, origins_, similarity_, preferences_, comparator_);
  }
  using Sets = std::vector<std::vector<std::uint32_t>>;

  Library library_;
  Origins origins_;
  // Pictures with neighbouring indexes are most similar.
  std::function<float(std::uint32_t, std::uint32_t)> score_of_ = [](std::uint32_t a, std::uint32_t b) {
    return -static_cast<float>(b - a);
  };
  const Similarity64 similarity_ = {[this](PicturePairs pairs) {
                                      std::vector<float> scores;
                                      for (const auto& [a, b] : pairs) scores.push_back(score_of_(a, b));
                                      return scores;
                                    },
                                    [this](std::uint32_t a, std::uint32_t b) {
                                      return static_cast<int>(-1000 * score_of_(std::min(a, b), std::max(a, b)));
                                    }};
  std::vector<CrossSetPair> across_;
  std::set<PicturePair> confirmed_distinct_;
  KeepPreferences preferences_ = {[](std::uint32_t a, std::uint32_t b) { return std::string(a < b ? "pixels" : ""); },
                                  [](std::vector<std::uint32_t> pictures) {
                                    std::sort(pictures.begin(), pictures.end());
                                    return pictures;
                                  },
                                  [this](const CandidateSet& some, const CandidateSet& others) {
                                    for (const std::uint32_t a : some) {
                                      for (const std::uint32_t b : others) {
                                        if (confirmed_distinct_.count({std::min(a, b), std::max(a, b)}) > 0)
                                          return false;
                                      }
                                    }
                                    return true;
                                  }};
  Scripted comparator_;
};

TEST_F(Suggest, OnlyPicturesCheckedAgainstTheKeeper) {
  pictures(4);
  comparator_.same(0, 2);
  comparator_.same(2, 3);  // which differs from 0: no chain
  comparator_.same(1, 3);
  const RemovalSuggestions out = run({all()});
  EXPECT_EQ(sets_of(out), (Sets{{0, 2}, {1, 3}}));
  EXPECT_EQ(out.unchecked_pictures, 0U);
}

TEST_F(Suggest, EachOfTwelveInvoicesStays) {
  pictures(12);
  const RemovalSuggestions out = run({all()});
  for (const auto& set : sets_of(out)) EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(out.sets.size(), 12U);
  EXPECT_EQ(out.unchecked_pictures, 0U);
  EXPECT_EQ(out.related_pictures.size(), 11U) << "each beside the first one that it was looked at against";
}

TEST_F(Suggest, ChecksAreLinearInTheMembersAndUncheckedOnesAreCounted) {
  pictures(1500);
  comparator_.same(998, 999);  // among the most similar
  comparator_.same(3, 500);    // far apart: not checked
  comparator_.same(1400, 1401);
  const RemovalSuggestions out = run({all()});
  EXPECT_LE(comparator_.compared_pairs(), 1500U * (kFirstKeepers + kNearest));
  EXPECT_GE(out.unchecked_pictures, 1490U);
  Sets together;
  for (const auto& set : sets_of(out)) {
    if (set.size() > 1) together.push_back(set);
  }
  EXPECT_EQ(together, (Sets{{998, 999}, {1400, 1401}}));
}

// Forty versions of each of thirty stills of one room.
TEST_F(Suggest, CopiesAmongManySimilarOnesAreFound) {
  pictures(1200);
  for (std::uint32_t base = 0; base < 30; ++base) {
    for (std::uint32_t a = 0; a < 40; ++a) {
      for (std::uint32_t b = a + 1; b < 40; ++b) comparator_.same(base + 30 * a, base + 30 * b);
    }
  }
  score_of_ = [](std::uint32_t a, std::uint32_t b) { return a % 30 == b % 30 ? 1.0F : 0.5F; };
  CandidateSet first(all());
  first.resize(900);
  const RemovalSuggestions out = run({first});
  std::size_t together = 0;
  for (const auto& set : sets_of(out)) together += set.size() == 30 ? 1 : 0;
  EXPECT_EQ(together, 30U);
  EXPECT_EQ(out.unchecked_pictures, 0U);
}

TEST_F(Suggest, WhatCannotBeDecodedIsNotSuggested) {
  pictures(2);
  comparator_.set_result(0, 1, {.seen = false, .kind = DifferenceKind::same, .contained = Containment::both});
  const RemovalSuggestions out = run({all()});
  EXPECT_EQ(sets_of(out), (Sets{{0}, {1}}));
  EXPECT_EQ(out.unchecked_pictures, 1U);
}

TEST_F(Suggest, APartGoesOnlyWhereTheWholeHasItsDetail) {
  pictures(2);
  comparator_.part(1, 0, 1.0F);
  EXPECT_EQ(sets_of(run({all()})), (Sets{{0, 1}}));
  comparator_.part(1, 0, 0.5F);
  const RemovalSuggestions out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  ASSERT_EQ(out.sets[0].also_kept.size(), 1U);
  EXPECT_EQ(out.sets[0].also_kept[0].picture, 1U);
}

TEST_F(Suggest, WhatWasEnlargedGoesForItsOriginal) {
  pictures(3);
  // The rule prefers 0 for its pixels, and 1 has as much detail, so 2 is checked against 1.
  comparator_.set_result(
      0, 1,
      {.seen = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 0.5F, .enlarged = true});
  comparator_.same(0, 2);
  comparator_.same(1, 2);
  RemovalSuggestions out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  EXPECT_EQ(out.sets[0].pictures, (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(out.sets[0].keep_reason, KeepReason::detail);
  // A picture that the rule prefers for more than its pixels is kept.
  preferences_.preferred_by = [](std::uint32_t, std::uint32_t) { return std::string(); };
  out = run({all()});
  EXPECT_EQ(out.sets[0].pictures[0], 0U);
}

TEST_F(Suggest, AFramedCopyGoesForWhatItFrames) {
  pictures(3);
  comparator_.set_result(
      0, 1,
      {.seen = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 1, .first_framed = true});
  comparator_.same(1, 2);
  const RemovalSuggestions out = run({all()});
  EXPECT_EQ(sets_of(out), Sets({{1, 0, 2}}));
  EXPECT_EQ(out.sets[0].keep_reason, KeepReason::unframed);
}

// The first by the rule has a frame. The second is the same as all others except that one.
TEST_F(Suggest, OfWhatHasNoFrameTheBestByTheRuleLeads) {
  pictures(3);
  comparator_.set_result(0, 1, {.seen = true, .kind = DifferenceKind::altered, .contained = Containment::neither});
  comparator_.set_result(
      0, 2,
      {.seen = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 1, .first_framed = true});
  comparator_.same(1, 2);
  EXPECT_EQ(sets_of(run({all()})), Sets({{0}, {1, 2}}));
}

TEST_F(Suggest, AFramedCopyWithMoreDetailStays) {
  pictures(2);
  comparator_.set_result(0, 1,
                         {.seen = true,
                          .kind = DifferenceKind::same,
                          .contained = Containment::both,
                          .scale = 0.5F,
                          .first_framed = true});
  EXPECT_EQ(run({all()}).sets[0].keep_reason, KeepReason::by_rule);
  // The same holds if the rule has another reason than pixels.
  comparator_.set_result(
      0, 1,
      {.seen = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 1, .first_framed = true});
  preferences_.preferred_by = [](std::uint32_t, std::uint32_t) { return std::string(); };
  EXPECT_EQ(run({all()}).sets[0].keep_reason, KeepReason::by_rule);
}

TEST_F(Suggest, AWholeNeverGoesForItsPart) {
  pictures(3);
  // The rule prefers the crop; the whole is the keeper all the same, and 2 is checked against it.
  comparator_.part(0, 1, 1.0F);
  comparator_.same(1, 2);
  RemovalSuggestions out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  EXPECT_EQ(out.sets[0].pictures, (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(out.sets[0].keep_reason, KeepReason::whole);
  // A whole with fewer pixels for the common content shows more, and is kept beside the crop.
  comparator_.part(0, 1, 0.5F);
  out = run({{0, 1}});
  ASSERT_EQ(out.sets.size(), 1U);
  ASSERT_EQ(out.sets[0].also_kept.size(), 1U);
  EXPECT_EQ(out.sets[0].also_kept[0].picture, 1U);
  // A reference file is the keeper.
  comparator_.part(0, 1, 1.0F);
  library_.files[0].reference = true;
  out = run({{0, 1}});
  EXPECT_EQ(out.sets[0].pictures[0], 0U);
  EXPECT_EQ(out.sets[0].also_kept.size(), 1U);
}

TEST_F(Suggest, KindsThatAreShownAndNotSuggested) {
  pictures(5);
  const std::array<std::pair<DifferenceKind, GroupKind>, 4> kinds = {{{DifferenceKind::altered, GroupKind::altered},
                                                                      {DifferenceKind::framed, GroupKind::framed},
                                                                      {DifferenceKind::toned, GroupKind::recoloured},
                                                                      {DifferenceKind::different, GroupKind::related}}};
  for (std::uint32_t i = 0; i < kinds.size(); ++i)
    comparator_.set_result(0, i + 1, {.seen = true, .kind = kinds[i].first});
  const RemovalSuggestions out = run({all()});
  ASSERT_EQ(out.related_pictures.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(out.related_pictures[i].kind, kinds[i].second);
  for (const auto& set : sets_of(out)) EXPECT_EQ(set.size(), 1U);
}

TEST_F(Suggest, SamePixelsDifferFromSimilarOnes) {
  pictures(3);
  comparator_.set_result(
      0, 1,
      {.seen = true, .same_pixels = true, .kind = DifferenceKind::same, .contained = Containment::both, .scale = 1});
  EXPECT_TRUE(run({{0, 1}}).sets[0].same_pixels);
  comparator_.same(0, 2);
  EXPECT_FALSE(run({all()}).sets[0].same_pixels);
}

// A chain at 64 pixels: the last picture is a version of a version, and in no candidate set with the first.
TEST_F(Suggest, SimilarOnesAcrossCandidatesAreCheckedOnce) {
  pictures(5);
  comparator_.same(0, 1);
  comparator_.same(0, 2);
  comparator_.same(0, 3);
  comparator_.same(1, 3);
  across_ = {{1, 2, 0.9F}, {2, 4, 0.8F}};
  // Pictures 2 and 3 have no candidate set, 4 is alone.
  const auto sets = sets_of(run({{0, 1}}));
  EXPECT_NE(std::find(sets.begin(), sets.end(), std::vector<std::uint32_t>{0, 1, 2}), sets.end());
  EXPECT_EQ(comparator_.find(0, 3), nullptr) << "nobody said that they are alike";
  EXPECT_EQ(std::count_if(sets.begin(), sets.end(), [](const auto& set) { return set.size() > 1; }), 1);
}

TEST_F(Suggest, AcrossCandidatesSetsAreJoinedOnlyWhereNobodyIsLeftAlone) {
  pictures(4);
  comparator_.same(0, 1);
  comparator_.same(2, 3);
  comparator_.same(0, 2);  // the keepers; 0 and 3 differ, and 3 would have no copy any more
  across_ = {{1, 3, 0.9F}};
  EXPECT_EQ(sets_of(run({{0, 1}, {2, 3}})), Sets({{0, 1}, {2, 3}}));
  comparator_.same(0, 3);
  EXPECT_EQ(sets_of(run({{0, 1}, {2, 3}})), Sets({{0, 1, 2, 3}}));
}

TEST_F(Suggest, AcrossCandidatesAnAlteredVersionIsShownAsOne) {
  pictures(3);
  comparator_.same(0, 1);
  comparator_.set_result(0, 2, {.seen = true, .kind = DifferenceKind::altered, .contained = Containment::neither});
  across_ = {{1, 2, 0.9F}};
  const RemovalSuggestions suggested = run({{0, 1}});
  ASSERT_EQ(suggested.related_pictures.size(), 1);
  EXPECT_EQ(suggested.related_pictures[0].kind, GroupKind::altered);
  for (const auto& set : sets_of(suggested))
    EXPECT_EQ(std::count(set.begin(), set.end(), 2U) > 0 && set.size() > 1, false);
}

TEST_F(Suggest, ConfirmedDistinctOnesAreNotJoinedByAThird) {
  pictures(4);
  comparator_.same(0, 1);
  comparator_.same(2, 3);
  comparator_.same(0, 2);
  comparator_.same(0, 3);
  confirmed_distinct_ = {{1, 3}};
  across_ = {{0, 2, 0.9F}};
  const auto sets = sets_of(run({{0, 1}, {2, 3}}));
  EXPECT_EQ(sets, (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(comparator_.find(0, 2), nullptr) << "and not looked at";
}

TEST_F(Suggest, WhatStandsInOneSetAtLastIsNotShownBeside) {
  pictures(3);
  comparator_.set_result(0, 1, {.seen = true, .kind = DifferenceKind::altered, .contained = Containment::neither});
  comparator_.same(0, 2);
  comparator_.same(1, 2);
  across_ = {{0, 1, 0.9F}, {0, 2, 0.9F}, {1, 2, 0.9F}};
  const RemovalSuggestions out = run({});
  for (const DuplicateSet& set : out.sets) {
    for (const RelatedPicture& b : out.related_pictures) {
      const auto in = [&](std::uint32_t p) { return std::count(set.pictures.begin(), set.pictures.end(), p) > 0; };
      EXPECT_FALSE(in(b.keeper) && in(b.picture));
    }
  }
}

}  // namespace
}  // namespace millrace::dedupe
