#include "src/jobs/dedupe/suggest/comparison.h"

#include <gtest/gtest.h>

#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {
namespace {

using detailed_check::Containment;
using detailed_check::DifferenceKind;

Comparison appearance_of(DifferenceKind kind, Containment contained, float scale) {
  Comparison out;
  out.seen = true;
  out.kind = kind;
  out.contained = contained;
  out.scale = scale;
  return out;
}

TEST(Comparison, TheCatalogReturnsTheComparison) {
  Comparison comparison = appearance_of(DifferenceKind::altered, Containment::neither, 0.5F);
  comparison.enlarged = comparison.one_shows_all = comparison.second_sharper = comparison.first_saved_again = true;
  comparison.first_place = {0.1F, 0.2F, 0.3F, 0.4F};
  comparison.second_place = {0.5F, 0.6F, 0.7F, 0.8F};
  const CatalogComparison kept = encode_for_catalog({1}, {2}, comparison);
  EXPECT_LE(kept.verdict.size(), CatalogComparison::kMaxBytes);
  const auto back = decode_comparison(kept);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->seen);
  EXPECT_FALSE(back->same_pixels || back->in_srgb || back->first_sharper || back->second_saved_again);
  EXPECT_TRUE(back->one_shows_all && back->second_sharper && back->first_saved_again);
  EXPECT_EQ(back->kind, comparison.kind);
  EXPECT_EQ(back->contained, comparison.contained);
  EXPECT_EQ(back->scale, comparison.scale);
  EXPECT_TRUE(back->enlarged);
  EXPECT_EQ(back->first_place, comparison.first_place);
  EXPECT_EQ(back->second_place, comparison.second_place);
  EXPECT_FALSE(back->searched_crops);
  for (const bool crops : {false, true}) {
    for (const bool turned : {false, true}) {
      comparison.searched_crops = {crops, turned};
      EXPECT_EQ(decode_comparison(encode_for_catalog({1}, {2}, comparison))->searched_crops, comparison.searched_crops);
    }
  }
}

TEST(Comparison, WhatTheCatalogueCannotMeanIsNotBelieved) {
  const CatalogComparison kept =
      encode_for_catalog({1}, {2}, appearance_of(DifferenceKind::same, Containment::both, 1));
  CatalogComparison other = kept;
  ++other.version;
  EXPECT_FALSE(decode_comparison(other));
  for (std::size_t size = 0; size < kept.verdict.size(); ++size) {
    other = kept;
    other.verdict.resize(size);
    EXPECT_FALSE(decode_comparison(other)) << size;
  }
  other = kept;
  other.verdict.push_back(0);
  EXPECT_FALSE(decode_comparison(other));
  // Bytes that name no kind give no result; every result has a valid kind.
  for (std::size_t at = 0; at < kept.verdict.size(); ++at) {
    other = kept;
    other.verdict[at] = 0xFF;
    const auto back = decode_comparison(other);
    EXPECT_TRUE(!back || back->kind <= DifferenceKind::different) << at;
  }
}

TEST(Comparison, WhoMayGoForWhom) {
  for (const bool first_is_keeper : {false, true}) {
    EXPECT_EQ(derive_relation(Comparison(), first_is_keeper), RelationToKeeper::unchecked);
    EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::both, 1), first_is_keeper),
              RelationToKeeper::same);
    EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::neither, 1), first_is_keeper),
              RelationToKeeper::other);
    for (const DifferenceKind kind :
         {DifferenceKind::altered, DifferenceKind::framed, DifferenceKind::toned, DifferenceKind::different})
      EXPECT_EQ(derive_relation(appearance_of(kind, Containment::both, 1), first_is_keeper), RelationToKeeper::other);
    Comparison pixels = appearance_of(DifferenceKind::different, Containment::neither, 1);
    pixels.same_pixels = true;
    EXPECT_EQ(derive_relation(pixels, first_is_keeper), RelationToKeeper::same);
  }
  // The second has more pixels for the same content.
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::both, 3), true),
            RelationToKeeper::has_more_detail);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::both, 3), false), RelationToKeeper::same);
  Comparison enlarged = appearance_of(DifferenceKind::same, Containment::both, 3);
  enlarged.enlarged = true;
  EXPECT_EQ(derive_relation(enlarged, true), RelationToKeeper::same);
  // The first is a crop of the second, which has the same number of pixels for it, twice as many, or half as many.
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::first, 1), false), RelationToKeeper::same);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::first, 2), false), RelationToKeeper::same);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::first, 0.5F), false),
            RelationToKeeper::has_more_detail);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::first, 1), true),
            RelationToKeeper::contains);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::first, 0.5F), true),
            RelationToKeeper::shows_more);
  EXPECT_EQ(derive_relation(appearance_of(DifferenceKind::same, Containment::second, 1), false),
            RelationToKeeper::contains);
}

TEST(Comparison, AFrameThatIsSharperNeverGoesAndACopyMadeSmallerMay) {
  for (const bool first_is_keeper : {false, true}) {
    for (const float scale : {0.3F, 0.5F, 1.0F, 2.0F}) {
      Comparison comparison = appearance_of(DifferenceKind::same, Containment::both, scale);
      comparison.second_sharper = true;
      const float of_the_one_that_goes = first_is_keeper ? scale : 1 / scale;
      const RelationToKeeper expected = of_the_one_that_goes > 1.1F ? RelationToKeeper::has_more_detail
                                        : of_the_one_that_goes > 0.9F && first_is_keeper
                                            ? RelationToKeeper::has_more_detail
                                            : RelationToKeeper::same;
      EXPECT_EQ(derive_relation(comparison, first_is_keeper), expected) << first_is_keeper << scale;
    }
  }
}

TEST(Origins, TheCatalogReturnsTheMetadataOfAFile) {
  Origin origin;
  Provenance& original = origin.provenance;
  original.make = "A";
  original.model = std::string("b\0c", 3);
  original.serial = "7";
  original.taken = "2024:05:01 12:30:10";
  original.subsecond = "25";
  original.offset = "+02:00";
  original.exposure_time = {1, 250};
  original.rating = -1;
  original.keywords = 3;
  original.exif_width = 4000;
  original.maker_note = original.gps = true;
  original.tables = ~0ULL;
  origin.raw_damage = "cut";
  original.extra_data = {{ExtraDataKind::video, 5}, {ExtraDataKind::profile, ~0ULL}};
  const CatalogOrigin kept = encode_for_catalog({1}, origin);
  const Origin read = *decode_origin(kept);
  const Provenance& back = read.provenance;
  EXPECT_EQ(read.raw_damage, "cut");
  EXPECT_EQ(back.make, original.make);
  EXPECT_EQ(back.model, original.model);
  EXPECT_EQ(back.serial, original.serial);
  EXPECT_EQ(back.taken, original.taken);
  EXPECT_EQ(back.subsecond, original.subsecond);
  EXPECT_EQ(back.offset, original.offset);
  EXPECT_EQ(back.exposure_time.denominator, 250);
  EXPECT_EQ(back.rating, -1);
  EXPECT_EQ(back.keywords, 3U);
  EXPECT_EQ(back.exif_width, 4000U);
  EXPECT_TRUE(back.maker_note && back.gps);
  EXPECT_FALSE(back.title);
  EXPECT_EQ(back.tables, original.tables);
  EXPECT_EQ(back.extra_data, original.extra_data);
}

TEST(Origins, ATruncatedRecordIsIgnored) {
  Origin origin;
  Provenance& original = origin.provenance;
  original.make = "Example";
  original.taken = "2024:05:01 12:30:10";
  original.extra_data = {{ExtraDataKind::sound, 5}};
  const CatalogOrigin kept = encode_for_catalog({1}, origin);
  CatalogOrigin other = kept;
  ++other.version;
  EXPECT_FALSE(decode_origin(other));
  for (std::size_t size = 0; size < kept.provenance.size(); ++size) {
    other = kept;
    other.provenance.resize(size);
    EXPECT_FALSE(decode_origin(other)) << size;
  }
  other = kept;
  std::fill(other.provenance.begin(), other.provenance.begin() + 4, std::uint8_t{0xFF});  // a length beyond the end
  EXPECT_FALSE(decode_origin(other));
}

}  // namespace
}  // namespace millrace::dedupe
