#include <gmock/gmock.h>

#include "src/io/image/picture.h"
#include "src/jobs/dedupe/apply/scene_for_test.h"
#include "src/jobs/dedupe/suggest/comparison.h"
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
    comparison_.seen = true;
    comparison_.kind = detailed_check::DifferenceKind::same;
    comparison_.contained = detailed_check::Containment::both;
    comparison_.scale = 1;
  }

  ContentHash hash_of(std::size_t entry) const {
    return *content_hash_from_hex(entries_[entry]["hash"].get<std::string>());
  }
  // Writes the catalog of a search: the files' contents, and optionally the detailed check of the two.
  void search_has_seen(const std::optional<Comparison>& comparison, const Origin& a = {}, const Origin& b = {},
                       ImageFormat format_b = ImageFormat::jpeg) {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    for (const std::size_t i : {0U, 1U}) {
      CatalogPicture picture;
      picture.content = hash_of(i);
      picture.format = static_cast<int>(i == 0 ? ImageFormat::jpeg : format_b);
      picture.width = picture.height = 8;
      catalog.put(picture, {});
    }
    catalog.put(encode_for_catalog(hash_of(0), a));
    catalog.put(encode_for_catalog(hash_of(1), b));
    const ContentHash one = hash_of(0), other = hash_of(1);
    if (comparison) catalog.put(encode_for_catalog(std::min(one, other), std::max(one, other), *comparison));
    catalog.flush();
  }
  void expect_left() {
    const auto before = disk();
    for (const std::string& action : {std::string("delete"), "move=" + top_ + "/moved"}) {
      const RunResult ran = run_apply(action);
      std::filesystem::remove(journal());
      EXPECT_EQ(ran.of("b.jpg"), "left") << ran.json.dump(1);
      EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("no detailed check confirmed that it is a copy of a.jpg"));
      EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("\"chosen\": true"));
      EXPECT_EQ(disk(), before);
    }
  }

  Comparison comparison_;
};

TEST_F(Chosen, UncheckedAndUnchosenIsLeft) {
  expect_left();
  search_has_seen(std::nullopt);
  expect_left();
}

TEST_F(Chosen, CheckedIsRemoved) {
  search_has_seen(comparison_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, OnlyWhatTheCheckFoundTheSame) {
  for (const detailed_check::DifferenceKind kind :
       {detailed_check::DifferenceKind::altered, detailed_check::DifferenceKind::framed,
        detailed_check::DifferenceKind::toned, detailed_check::DifferenceKind::different}) {
    comparison_.kind = kind;
    search_has_seen(comparison_);
    expect_left();
  }
  comparison_.kind = detailed_check::DifferenceKind::same;
  comparison_.seen = false;
  search_has_seen(comparison_);
  expect_left();
}

TEST_F(Chosen, APartGoesForItsWholeAndNotTheOtherWayRound) {
  const bool b_is_first = hash_of(1) < hash_of(0);
  comparison_.contained =
      b_is_first ? detailed_check::Containment::second : detailed_check::Containment::first;  // a is a crop of b
  search_has_seen(comparison_);
  expect_left();
  comparison_.contained = b_is_first ? detailed_check::Containment::first : detailed_check::Containment::second;
  search_has_seen(comparison_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, MorePixelsAreLeft) {
  comparison_.scale = hash_of(1) < hash_of(0) ? 0.1F : 10.0F;  // b has ten times as many pixels along a side
  search_has_seen(comparison_);
  expect_left();
  comparison_.scale = 1 / comparison_.scale;
  search_has_seen(comparison_);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, ConfirmedDistinctInAnotherGroupOrRunIsLeft) {
  search_has_seen(comparison_);
  decide("burst-1", "not_duplicates", "b.jpg")["with"] = entries_[0]["hash"];
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "left");
  entries_.pop_back();
  std::filesystem::remove(journal());
  {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    catalog.put_confirmed_distinct(hash_of(1), hash_of(0));
    catalog.flush();
  }
  expect_left();
}

TEST_F(Chosen, AnotherPressOfTheShutterIsLeft) {
  Origin a, b;
  a.provenance.make = b.provenance.make = "Canon";
  a.provenance.model = b.provenance.model = "R5";
  a.provenance.taken = "2024:05:01 12:30:10";
  b.provenance.taken = "2024:05:01 12:30:12";
  search_has_seen(comparison_, a, b);
  expect_left();
  comparison_.same_pixels = true;  // a rewritten date
  search_has_seen(comparison_, a, b);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, OneShotInTwoFormatsIsLeft) {
  entries_.clear();
  put("c.jpg", "one picture");
  put("c.heic", "two picture");
  decide("similar-1", "keep", "c.jpg");
  decide("similar-1", "remove", "c.heic").erase("chosen");
  search_has_seen(comparison_, {}, {}, ImageFormat::heif);
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.of("c.heic"), "left") << ran.json.dump(1);
}

TEST_F(Chosen, WhatHoldsMoreThanWhatStaysIsLeft) {
  Origin with_film;
  with_film.provenance.extra_data = {{ExtraDataKind::video, 7}};
  search_has_seen(comparison_, {}, with_film);
  expect_left();
  search_has_seen(comparison_, with_film, with_film);
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Chosen, ARawFileIsLeftAndNothingGoesForARottenOne) {
  search_has_seen(comparison_, {}, {}, ImageFormat::raw);
  expect_left();
  Origin rotten;
  rotten.raw_damage = "cut";
  search_has_seen(comparison_, rotten, {});
  expect_left();
}

TEST_F(Chosen, OneOfTwoThatWereOneFileIsLeft) {
  entries_.clear();
  put("a.jpg", "one picture of one shot, as it was");
  put("b.jpg", "one picture of one shoo, as it was");
  decide("similar-1", "keep", "a.jpg");
  decide("similar-1", "remove", "b.jpg").erase("chosen");
  search_has_seen(comparison_);
  expect_left();
}

TEST_F(Chosen, WhatAnotherVersionKnewIsNotBelieved) {
  search_has_seen(comparison_);
  {
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    CatalogOrigin old = encode_for_catalog(hash_of(1), {});
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
  const RunResult ran = run_apply("delete");
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
