#include <gmock/gmock.h>

#include "src/io/image/picture.h"
#include "src/jobs/dedupe/apply/scene_for_test.h"
#include "src/jobs/dedupe/suggest/close_look.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

// Two files of other bytes; b.jpg is to be removed for a.jpg without a person's choice.
class Chosen : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    put("a.jpg", "one picture");
    put("b.jpg", "two picture");
    decide("similar-1", "keep", "a.jpg");
    decide("similar-1", "remove", "b.jpg").erase("chosen");
    look_.seen = true;
    look_.kind = closelook::Kind::same;
    look_.contained = closelook::Contained::both;
    look_.scale = 1;
  }

  ContentHash hash_of(std::size_t entry) const {
    return *content_hash_from_hex(entries_[entry]["hash"].get<std::string>());
  }
  // Writes the catalog of a search: the files' contents, and optionally the detailed check of the two.
  void search_has_seen(const std::optional<CloseLook>& look, const Origin& a = {}, const Origin& b = {},
                       ImageFormat format_b = ImageFormat::jpeg) {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    for (const std::size_t i : {0U, 1U}) {
      CatalogPicture picture;
      picture.content = hash_of(i);
      picture.format = static_cast<int>(i == 0 ? ImageFormat::jpeg : format_b);
      picture.width = picture.height = 8;
      catalog.put(picture, {});
    }
    catalog.put(kept_of(hash_of(0), a));
    catalog.put(kept_of(hash_of(1), b));
    const ContentHash one = hash_of(0), other = hash_of(1);
    if (look) catalog.put(kept_of(std::min(one, other), std::max(one, other), *look));
    catalog.flush();
  }
  void expect_left() {
    const auto before = disk();
    for (const std::string& action : {std::string("delete"), "move=" + top_ + "/moved"}) {
      const Ran ran = run_apply(action);
      std::filesystem::remove(journal());
      EXPECT_EQ(ran.of("b.jpg"), "left") << ran.json.dump(1);
      EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("no look found that it shows what a.jpg shows"));
      EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("\"chosen\": true"));
      EXPECT_EQ(disk(), before);
    }
  }

  CloseLook look_;
};

TEST_F(Chosen, WhatNobodyLookedAtAndNobodyChoseIsLeft) {
  expect_left();
  search_has_seen(std::nullopt);
  expect_left();
}

TEST_F(Chosen, WhatWasLookedAtGoes) {
  search_has_seen(look_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, OnlyWhatALookCalledTheSame) {
  for (const closelook::Kind kind :
       {closelook::Kind::altered, closelook::Kind::framed, closelook::Kind::toned, closelook::Kind::different}) {
    look_.kind = kind;
    search_has_seen(look_);
    expect_left();
  }
  look_.kind = closelook::Kind::same;
  look_.seen = false;
  search_has_seen(look_);
  expect_left();
}

TEST_F(Chosen, APartGoesForItsWholeAndNotTheOtherWayRound) {
  const bool b_is_first = hash_of(1) < hash_of(0);
  look_.contained = b_is_first ? closelook::Contained::second : closelook::Contained::first;  // a is a crop of b
  search_has_seen(look_);
  expect_left();
  look_.contained = b_is_first ? closelook::Contained::first : closelook::Contained::second;
  search_has_seen(look_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, MorePixelsAreLeft) {
  look_.scale = hash_of(1) < hash_of(0) ? 0.1F : 10.0F;  // b has ten times as many pixels along a side
  search_has_seen(look_);
  expect_left();
  look_.scale = 1 / look_.scale;
  search_has_seen(look_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, ToldApartInAnotherGroupOrByAnEarlierRunIsLeft) {
  search_has_seen(look_);
  decide("burst-1", "not_duplicates", "b.jpg")["with"] = entries_[0]["hash"];
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "left");
  entries_.pop_back();
  std::filesystem::remove(journal());
  {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    catalog.put_not_duplicates(hash_of(1), hash_of(0));
    catalog.flush();
  }
  expect_left();
}

TEST_F(Chosen, AnotherPressOfTheShutterIsLeft) {
  Origin a, b;
  a.told.make = b.told.make = "Canon";
  a.told.model = b.told.model = "R5";
  a.told.taken = "2024:05:01 12:30:10";
  b.told.taken = "2024:05:01 12:30:12";
  search_has_seen(look_, a, b);
  expect_left();
  look_.same_pixels = true;  // a rewritten date
  search_has_seen(look_, a, b);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, OneShotInTwoFormatsIsLeft) {
  entries_.clear();
  put("c.jpg", "one picture");
  put("c.heic", "two picture");
  decide("similar-1", "keep", "c.jpg");
  decide("similar-1", "remove", "c.heic").erase("chosen");
  search_has_seen(look_, {}, {}, ImageFormat::heif);
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.of("c.heic"), "left") << ran.json.dump(1);
}

TEST_F(Chosen, WhatHoldsMoreThanWhatStaysIsLeft) {
  Origin with_film;
  with_film.told.holdings = {{HoldingKind::film, 7}};
  search_has_seen(look_, {}, with_film);
  expect_left();
  search_has_seen(look_, with_film, with_film);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, ARawFileIsLeftAndNothingGoesForARottenOne) {
  search_has_seen(look_, {}, {}, ImageFormat::raw);
  expect_left();
  Origin rotten;
  rotten.raw_damage = "cut";
  search_has_seen(look_, rotten, {});
  expect_left();
}

TEST_F(Chosen, OneOfTwoThatWereOneFileIsLeft) {
  entries_.clear();
  put("a.jpg", "one picture of one shot, as it was");
  put("b.jpg", "one picture of one shoo, as it was");
  decide("similar-1", "keep", "a.jpg");
  decide("similar-1", "remove", "b.jpg").erase("chosen");
  search_has_seen(look_);
  expect_left();
}

TEST_F(Chosen, WhatAnotherVersionKnewIsNotBelieved) {
  search_has_seen(look_);
  {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    CatalogOrigin old = kept_of(hash_of(1), {});
    --old.version;
    catalog.put(old);
    catalog.flush();
  }
  expect_left();
}

TEST_F(Chosen, APersonsOwnChoiceGoes) {
  entries_[1]["chosen"] = true;
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, AChoiceOfAnotherFileIsNone) {
  put("c.jpg", "likewise");
  decide("similar-1", "remove", "c.jpg");
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_EQ(ran.of("c.jpg"), "done");
}

TEST_F(Chosen, EqualBytesAnywhereThatStayAreEnough) {
  put("elsewhere/b.jpg", "two picture");
  decide("identical-2", "keep", "elsewhere/b.jpg");
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

}  // namespace
}  // namespace millrace::dedupe
