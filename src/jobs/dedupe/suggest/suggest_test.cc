// Tests of the suggestions, given the results of the detailed check of each pair.
#include "src/jobs/dedupe/suggest/suggest.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace::dedupe {
namespace {

using closelook::Contained;
using closelook::Kind;

// Returns the results that a test defined; all other pairs are different pictures.
class Scripted : public Looks {
 public:
  void say(std::uint32_t a, std::uint32_t b, const CloseLook& look) { said_[{a, b}] = look; }
  void same(std::uint32_t a, std::uint32_t b) {
    say(a, b, {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 1});
  }
  // Makes `part` a crop of `whole`, which has `scale` pixels for each of the crop's.
  void part(std::uint32_t part, std::uint32_t whole, float scale) {
    if (part < whole) {
      say(part, whole, {.seen = true, .kind = Kind::same, .contained = Contained::first, .scale = scale});
    } else {
      say(whole, part, {.seen = true, .kind = Kind::same, .contained = Contained::second, .scale = 1 / scale});
    }
  }
  void look(std::span<const PicturePair> pairs) override {
    for (const auto& [a, b] : pairs) looked_.insert({std::min(a, b), std::max(a, b)});
  }
  const CloseLook* find(std::uint32_t a, std::uint32_t b) const override {
    const PicturePair key{std::min(a, b), std::max(a, b)};
    if (looked_.count(key) == 0) return nullptr;
    const auto at = said_.find(key);
    return at == said_.end() ? &different_ : &at->second;
  }
  std::uint64_t looked_at() const override { return looked_.size(); }

 private:
  std::map<PicturePair, CloseLook> said_;
  std::set<PicturePair> looked_;
  CloseLook different_{.seen = true};
};

class Suggest : public testing::Test {
 protected:
  void pictures(std::uint32_t count) {
    for (std::uint32_t p = 0; p < count; ++p) {
      Picture picture;
      picture.files = {p};
      library_.pictures.push_back(picture);
      File file;
      file.picture = p;
      library_.files.push_back(file);
    }
  }
  Candidate all() const {
    Candidate out;
    for (std::uint32_t p = 0; p < library_.pictures.size(); ++p) out.push_back(p);
    return out;
  }
  std::vector<std::vector<std::uint32_t>> sets_of(const Suggested& suggested) const {
    std::vector<std::vector<std::uint32_t>> out;
    for (const SameSet& set : suggested.sets) {
      out.push_back(set.pictures);
      for (const SameSet::Kept& kept : set.also_kept) std::erase(out.back(), kept.picture);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  Suggested run(const std::vector<Candidate>& candidates) {
    return suggest(candidates, across_, library_, origins_, similarity_, preferences_, looks_);
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
  std::vector<Across> across_;
  std::set<PicturePair> not_duplicates_;
  Preferences preferences_ = {[](std::uint32_t a, std::uint32_t b) { return std::string(a < b ? "pixels" : ""); },
                              [](std::vector<std::uint32_t> pictures) {
                                std::sort(pictures.begin(), pictures.end());
                                return pictures;
                              },
                              [this](const Candidate& some, const Candidate& others) {
                                for (const std::uint32_t a : some) {
                                  for (const std::uint32_t b : others) {
                                    if (not_duplicates_.count({std::min(a, b), std::max(a, b)}) > 0) return false;
                                  }
                                }
                                return true;
                              }};
  Scripted looks_;
};

TEST_F(Suggest, OnlyWhatWasLookedAtAgainstTheOneThatStays) {
  pictures(4);
  looks_.same(0, 2);
  looks_.same(2, 3);  // which differs from 0: no chain
  looks_.same(1, 3);
  const Suggested out = run({all()});
  EXPECT_EQ(sets_of(out), (Sets{{0, 2}, {1, 3}}));
  EXPECT_EQ(out.not_looked, 0U);
}

TEST_F(Suggest, EachOfTwelveInvoicesStays) {
  pictures(12);
  const Suggested out = run({all()});
  for (const auto& set : sets_of(out)) EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(out.sets.size(), 12U);
  EXPECT_EQ(out.not_looked, 0U);
  EXPECT_EQ(out.beside.size(), 11U) << "each beside the first one that it was looked at against";
}

TEST_F(Suggest, LooksAreLinearInTheMembersAndWhatWasNotLookedAtIsSaid) {
  pictures(1500);
  looks_.same(998, 999);  // among the most similar
  looks_.same(3, 500);    // far apart: not checked
  looks_.same(1400, 1401);
  const Suggested out = run({all()});
  EXPECT_LE(looks_.looked_at(), 1500U * (kFirstLeaders + kNearest));
  EXPECT_GE(out.not_looked, 1490U);
  Sets together;
  for (const auto& set : sets_of(out)) {
    if (set.size() > 1) together.push_back(set);
  }
  EXPECT_EQ(together, (Sets{{998, 999}, {1400, 1401}}));
}

// Forty versions of each of thirty stills of one room.
TEST_F(Suggest, CopiesAmongManyThatLookAlikeAreFound) {
  pictures(1200);
  for (std::uint32_t base = 0; base < 30; ++base) {
    for (std::uint32_t a = 0; a < 40; ++a) {
      for (std::uint32_t b = a + 1; b < 40; ++b) looks_.same(base + 30 * a, base + 30 * b);
    }
  }
  score_of_ = [](std::uint32_t a, std::uint32_t b) { return a % 30 == b % 30 ? 1.0F : 0.5F; };
  Candidate first(all());
  first.resize(900);
  const Suggested out = run({first});
  std::size_t together = 0;
  for (const auto& set : sets_of(out)) together += set.size() == 30 ? 1 : 0;
  EXPECT_EQ(together, 30U);
  EXPECT_EQ(out.not_looked, 0U);
}

TEST_F(Suggest, WhatCannotBeDecodedIsNotSuggested) {
  pictures(2);
  looks_.say(0, 1, {.seen = false, .kind = Kind::same, .contained = Contained::both});
  const Suggested out = run({all()});
  EXPECT_EQ(sets_of(out), (Sets{{0}, {1}}));
  EXPECT_EQ(out.not_looked, 1U);
}

TEST_F(Suggest, APartGoesOnlyWhereTheWholeHasItsDetail) {
  pictures(2);
  looks_.part(1, 0, 1.0F);
  EXPECT_EQ(sets_of(run({all()})), (Sets{{0, 1}}));
  looks_.part(1, 0, 0.5F);
  const Suggested out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  ASSERT_EQ(out.sets[0].also_kept.size(), 1U);
  EXPECT_EQ(out.sets[0].also_kept[0].picture, 1U);
}

TEST_F(Suggest, WhatWasEnlargedGoesForItsOriginal) {
  pictures(3);
  // The rule prefers 0 for its pixels, and 1 has as much detail, so 2 is checked against 1.
  looks_.say(0, 1, {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 0.5F, .enlarged = true});
  looks_.same(0, 2);
  looks_.same(1, 2);
  Suggested out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  EXPECT_EQ(out.sets[0].pictures, (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(out.sets[0].lead, Lead::detail);
  // A picture that the rule prefers for more than its pixels is kept.
  preferences_.preferred_by = [](std::uint32_t, std::uint32_t) { return std::string(); };
  out = run({all()});
  EXPECT_EQ(out.sets[0].pictures[0], 0U);
}

TEST_F(Suggest, AFramedCopyGoesForWhatItFrames) {
  pictures(3);
  looks_.say(0, 1, {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 1, .first_framed = true});
  looks_.same(1, 2);
  const Suggested out = run({all()});
  EXPECT_EQ(sets_of(out), Sets({{1, 0, 2}}));
  EXPECT_EQ(out.sets[0].lead, Lead::unframed);
}

// The first by the rule has a frame. The second is the same as all others except that one.
TEST_F(Suggest, OfWhatHasNoFrameTheBestByTheRuleLeads) {
  pictures(3);
  looks_.say(0, 1, {.seen = true, .kind = Kind::altered, .contained = Contained::neither});
  looks_.say(0, 2, {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 1, .first_framed = true});
  looks_.same(1, 2);
  EXPECT_EQ(sets_of(run({all()})), Sets({{0}, {1, 2}}));
}

TEST_F(Suggest, AFramedCopyWithMoreDetailStays) {
  pictures(2);
  looks_.say(0, 1,
             {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 0.5F, .first_framed = true});
  EXPECT_EQ(run({all()}).sets[0].lead, Lead::by_rule);
  // The same holds if the rule has another reason than pixels.
  looks_.say(0, 1, {.seen = true, .kind = Kind::same, .contained = Contained::both, .scale = 1, .first_framed = true});
  preferences_.preferred_by = [](std::uint32_t, std::uint32_t) { return std::string(); };
  EXPECT_EQ(run({all()}).sets[0].lead, Lead::by_rule);
}

TEST_F(Suggest, AWholeNeverGoesForItsPart) {
  pictures(3);
  // The rule prefers the crop; the whole leads all the same, and 2 is checked against it.
  looks_.part(0, 1, 1.0F);
  looks_.same(1, 2);
  Suggested out = run({all()});
  ASSERT_EQ(out.sets.size(), 1U);
  EXPECT_EQ(out.sets[0].pictures, (std::vector<std::uint32_t>{1, 0, 2}));
  EXPECT_EQ(out.sets[0].lead, Lead::whole);
  // A whole with fewer pixels for the common content shows more, and is kept beside the crop.
  looks_.part(0, 1, 0.5F);
  out = run({{0, 1}});
  ASSERT_EQ(out.sets.size(), 1U);
  ASSERT_EQ(out.sets[0].also_kept.size(), 1U);
  EXPECT_EQ(out.sets[0].also_kept[0].picture, 1U);
  // A reference file leads.
  looks_.part(0, 1, 1.0F);
  library_.files[0].reference = true;
  out = run({{0, 1}});
  EXPECT_EQ(out.sets[0].pictures[0], 0U);
  EXPECT_EQ(out.sets[0].also_kept.size(), 1U);
}

TEST_F(Suggest, KindsThatAreShownAndNotSuggested) {
  pictures(5);
  const std::array<std::pair<Kind, GroupKind>, 4> kinds = {{{Kind::altered, GroupKind::altered},
                                                            {Kind::framed, GroupKind::framed},
                                                            {Kind::toned, GroupKind::recoloured},
                                                            {Kind::different, GroupKind::related}}};
  for (std::uint32_t i = 0; i < kinds.size(); ++i) looks_.say(0, i + 1, {.seen = true, .kind = kinds[i].first});
  const Suggested out = run({all()});
  ASSERT_EQ(out.beside.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(out.beside[i].kind, kinds[i].second);
  for (const auto& set : sets_of(out)) EXPECT_EQ(set.size(), 1U);
}

TEST_F(Suggest, SamePixelsAreToldFromSimilarOnes) {
  pictures(3);
  looks_.say(0, 1, {.seen = true, .same_pixels = true, .kind = Kind::same, .contained = Contained::both, .scale = 1});
  EXPECT_TRUE(run({{0, 1}}).sets[0].same_pixels);
  looks_.same(0, 2);
  EXPECT_FALSE(run({all()}).sets[0].same_pixels);
}

// A chain at 64 pixels: the last picture is a version of a version, and in no candidate set with the first.
TEST_F(Suggest, WhatIsAlikeAcrossCandidatesIsLookedAtOnce) {
  pictures(5);
  looks_.same(0, 1);
  looks_.same(0, 2);
  looks_.same(0, 3);
  looks_.same(1, 3);
  across_ = {{1, 2, 0.9F}, {2, 4, 0.8F}};
  // Pictures 2 and 3 have no candidate set, 4 is alone.
  const auto sets = sets_of(run({{0, 1}}));
  EXPECT_NE(std::find(sets.begin(), sets.end(), std::vector<std::uint32_t>{0, 1, 2}), sets.end());
  EXPECT_EQ(looks_.find(0, 3), nullptr) << "nobody said that they are alike";
  EXPECT_EQ(std::count_if(sets.begin(), sets.end(), [](const auto& set) { return set.size() > 1; }), 1);
}

TEST_F(Suggest, AcrossCandidatesSetsAreJoinedOnlyWhereNobodyIsLeftAlone) {
  pictures(4);
  looks_.same(0, 1);
  looks_.same(2, 3);
  looks_.same(0, 2);  // the leaders; 0 and 3 differ, and 3 would have no copy any more
  across_ = {{1, 3, 0.9F}};
  EXPECT_EQ(sets_of(run({{0, 1}, {2, 3}})), Sets({{0, 1}, {2, 3}}));
  looks_.same(0, 3);
  EXPECT_EQ(sets_of(run({{0, 1}, {2, 3}})), Sets({{0, 1, 2, 3}}));
}

TEST_F(Suggest, AcrossCandidatesAnAlteredVersionIsShownAsOne) {
  pictures(3);
  looks_.same(0, 1);
  looks_.say(0, 2, {.seen = true, .kind = Kind::altered, .contained = Contained::neither});
  across_ = {{1, 2, 0.9F}};
  const Suggested suggested = run({{0, 1}});
  ASSERT_EQ(suggested.beside.size(), 1);
  EXPECT_EQ(suggested.beside[0].kind, GroupKind::altered);
  for (const auto& set : sets_of(suggested))
    EXPECT_EQ(std::count(set.begin(), set.end(), 2U) > 0 && set.size() > 1, false);
}

TEST_F(Suggest, WhatAPersonToldApartIsNotBroughtTogetherByAThird) {
  pictures(4);
  looks_.same(0, 1);
  looks_.same(2, 3);
  looks_.same(0, 2);
  looks_.same(0, 3);
  not_duplicates_ = {{1, 3}};
  across_ = {{0, 2, 0.9F}};
  const auto sets = sets_of(run({{0, 1}, {2, 3}}));
  EXPECT_EQ(sets, (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(looks_.find(0, 2), nullptr) << "and not looked at";
}

TEST_F(Suggest, WhatStandsInOneSetAtLastIsNotShownBeside) {
  pictures(3);
  looks_.say(0, 1, {.seen = true, .kind = Kind::altered, .contained = Contained::neither});
  looks_.same(0, 2);
  looks_.same(1, 2);
  across_ = {{0, 1, 0.9F}, {0, 2, 0.9F}, {1, 2, 0.9F}};
  const Suggested out = run({});
  for (const SameSet& set : out.sets) {
    for (const Beside& b : out.beside) {
      const auto in = [&](std::uint32_t p) { return std::count(set.pictures.begin(), set.pictures.end(), p) > 0; };
      EXPECT_FALSE(in(b.leader) && in(b.picture));
    }
  }
}

}  // namespace
}  // namespace millrace::dedupe
