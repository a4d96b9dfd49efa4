#include "src/jobs/dedupe/suggest/close_look.h"

#include <gtest/gtest.h>

#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {
namespace {

using closelook::Contained;
using closelook::Kind;

CloseLook appearance_of(Kind kind, Contained contained, float scale) {
  CloseLook out;
  out.seen = true;
  out.kind = kind;
  out.contained = contained;
  out.scale = scale;
  return out;
}

TEST(CloseLook, TheCatalogueGivesBackWhatWasSaid) {
  CloseLook look = appearance_of(Kind::altered, Contained::neither, 0.5F);
  look.enlarged = look.one_shows_all = look.second_sharper = look.first_saved_again = true;
  look.first_place = {0.1F, 0.2F, 0.3F, 0.4F};
  look.second_place = {0.5F, 0.6F, 0.7F, 0.8F};
  const CatalogCloseLook kept = kept_of({1}, {2}, look);
  EXPECT_LE(kept.verdict.size(), CatalogCloseLook::kMostBytes);
  const auto back = close_look_from(kept);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->seen);
  EXPECT_FALSE(back->same_pixels || back->in_srgb || back->first_sharper || back->second_saved_again);
  EXPECT_TRUE(back->one_shows_all && back->second_sharper && back->first_saved_again);
  EXPECT_EQ(back->kind, look.kind);
  EXPECT_EQ(back->contained, look.contained);
  EXPECT_EQ(back->scale, look.scale);
  EXPECT_TRUE(back->enlarged);
  EXPECT_EQ(back->first_place, look.first_place);
  EXPECT_EQ(back->second_place, look.second_place);
  EXPECT_FALSE(back->looked_for);
  for (const bool cuts : {false, true}) {
    for (const bool turned : {false, true}) {
      look.looked_for = {cuts, turned};
      EXPECT_EQ(close_look_from(kept_of({1}, {2}, look))->looked_for, look.looked_for);
    }
  }
}

TEST(CloseLook, WhatTheCatalogueCannotMeanIsNotBelieved) {
  const CatalogCloseLook kept = kept_of({1}, {2}, appearance_of(Kind::same, Contained::both, 1));
  CatalogCloseLook other = kept;
  ++other.version;
  EXPECT_FALSE(close_look_from(other));
  for (std::size_t size = 0; size < kept.verdict.size(); ++size) {
    other = kept;
    other.verdict.resize(size);
    EXPECT_FALSE(close_look_from(other)) << size;
  }
  other = kept;
  other.verdict.push_back(0);
  EXPECT_FALSE(close_look_from(other));
  // Bytes that name no kind give no result; every result has a valid kind.
  for (std::size_t at = 0; at < kept.verdict.size(); ++at) {
    other = kept;
    other.verdict[at] = 0xFF;
    const auto back = close_look_from(other);
    EXPECT_TRUE(!back || back->kind <= Kind::different) << at;
  }
}

TEST(CloseLook, WhoMayGoForWhom) {
  for (const bool first_stays : {false, true}) {
    EXPECT_EQ(standing_of(CloseLook(), first_stays), Standing::unseen);
    EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::both, 1), first_stays), Standing::same);
    EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::neither, 1), first_stays), Standing::other);
    for (const Kind kind : {Kind::altered, Kind::framed, Kind::toned, Kind::different})
      EXPECT_EQ(standing_of(appearance_of(kind, Contained::both, 1), first_stays), Standing::other);
    CloseLook pixels = appearance_of(Kind::different, Contained::neither, 1);
    pixels.same_pixels = true;
    EXPECT_EQ(standing_of(pixels, first_stays), Standing::same);
  }
  // The second has more pixels for the same content.
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::both, 3), true), Standing::has_more_detail);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::both, 3), false), Standing::same);
  CloseLook enlarged = appearance_of(Kind::same, Contained::both, 3);
  enlarged.enlarged = true;
  EXPECT_EQ(standing_of(enlarged, true), Standing::same);
  // The first is a crop of the second, which has the same number of pixels for it, twice as many, or half as many.
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::first, 1), false), Standing::same);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::first, 2), false), Standing::same);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::first, 0.5F), false), Standing::has_more_detail);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::first, 1), true), Standing::contains);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::first, 0.5F), true), Standing::shows_more);
  EXPECT_EQ(standing_of(appearance_of(Kind::same, Contained::second, 1), false), Standing::contains);
}

TEST(CloseLook, AFrameThatIsSharperNeverGoesAndACopyMadeSmallerMay) {
  for (const bool first_stays : {false, true}) {
    for (const float scale : {0.3F, 0.5F, 1.0F, 2.0F}) {
      CloseLook look = appearance_of(Kind::same, Contained::both, scale);
      look.second_sharper = true;
      const float of_the_one_that_goes = first_stays ? scale : 1 / scale;
      const Standing expected = of_the_one_that_goes > 1.1F                  ? Standing::has_more_detail
                                : of_the_one_that_goes > 0.9F && first_stays ? Standing::has_more_detail
                                                                             : Standing::same;
      EXPECT_EQ(standing_of(look, first_stays), expected) << first_stays << scale;
    }
  }
}

TEST(Origins, TheCatalogueGivesBackWhatAFileSays) {
  Origin origin;
  Provenance& said = origin.told;
  said.make = "A";
  said.model = std::string("b\0c", 3);
  said.serial = "7";
  said.taken = "2024:05:01 12:30:10";
  said.subsecond = "25";
  said.offset = "+02:00";
  said.exposure_time = {1, 250};
  said.rating = -1;
  said.keywords = 3;
  said.told_width = 4000;
  said.maker_note = said.gps = true;
  said.tables = ~0ULL;
  origin.raw_damage = "cut";
  said.holdings = {{HoldingKind::film, 5}, {HoldingKind::profile, ~0ULL}};
  const CatalogOrigin kept = kept_of({1}, origin);
  const Origin read = *origin_from(kept);
  const Provenance& back = read.told;
  EXPECT_EQ(read.raw_damage, "cut");
  EXPECT_EQ(back.make, said.make);
  EXPECT_EQ(back.model, said.model);
  EXPECT_EQ(back.serial, said.serial);
  EXPECT_EQ(back.taken, said.taken);
  EXPECT_EQ(back.subsecond, said.subsecond);
  EXPECT_EQ(back.offset, said.offset);
  EXPECT_EQ(back.exposure_time.denominator, 250);
  EXPECT_EQ(back.rating, -1);
  EXPECT_EQ(back.keywords, 3U);
  EXPECT_EQ(back.told_width, 4000U);
  EXPECT_TRUE(back.maker_note && back.gps);
  EXPECT_FALSE(back.title);
  EXPECT_EQ(back.tables, said.tables);
  EXPECT_EQ(back.holdings, said.holdings);
}

TEST(Origins, WhatIsCutOffSaysNothing) {
  Origin origin;
  Provenance& said = origin.told;
  said.make = "Example";
  said.taken = "2024:05:01 12:30:10";
  said.holdings = {{HoldingKind::sound, 5}};
  const CatalogOrigin kept = kept_of({1}, origin);
  CatalogOrigin other = kept;
  ++other.version;
  EXPECT_FALSE(origin_from(other));
  for (std::size_t size = 0; size < kept.told.size(); ++size) {
    other = kept;
    other.told.resize(size);
    EXPECT_FALSE(origin_from(other)) << size;
  }
  other = kept;
  std::fill(other.told.begin(), other.told.begin() + 4, std::uint8_t{0xFF});  // a length beyond the end
  EXPECT_FALSE(origin_from(other));
}

}  // namespace
}  // namespace millrace::dedupe
