// Input: the result of the detailed check of two pictures, or its record in the catalog.
// Output: the same in the other form; and whether one of the two pictures is removable in favour of the other.
// Never: decodes a picture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/match/crop_comparison.h"
#include "src/kernels/detailed_check/detailed_check.h"

namespace millrace::dedupe {

// Result of the detailed check of two pictures. The first is the one with the lower content.
struct Comparison {
  bool seen = false;           // both could be decoded; if false, no other field is set
  bool in_srgb = false;        // colour profiles other than sRGB were applied
  bool one_shows_all = false;  // everything in one of the two files was compared, and not everything in the other
  bool same_pixels = false;    // decoded in full, every pixel is the same
  detailed_check::DifferenceKind kind = detailed_check::DifferenceKind::different;
  detailed_check::Containment contained = detailed_check::Containment::neither;
  float scale = 0;                                     // pixels of the second per pixel of the first, along a side
  bool enlarged = false;                               // the one with more pixels shows nothing finer than the other
  bool first_sharper = false, second_sharper = false;  // sharper in some places, and softer in none
  // True for a file that is the other one, saved again at a higher quality. Determined only for JPEGs that name no
  // camera.
  bool first_saved_again = false, second_saved_again = false;
  bool first_framed = false, second_framed = false;  // only this one has a plain frame around the common content
  // Region of the largest difference, in shares of each picture's sides: left, top, right, bottom.
  std::array<float, 4> first_place{}, second_place{};
  // Crops that were searched because the whole images differ. They determine the transform between the images. nullopt
  // if the whole images match.
  std::optional<TransformKinds> searched_crops{};

  // The accessors return a field of one of the two pictures.
  bool sharper(bool first) const { return first ? first_sharper : second_sharper; }
  bool saved_again(bool first) const { return first ? first_saved_again : second_saved_again; }
  bool framed(bool first) const { return first ? first_framed : second_framed; }
  const std::array<float, 4>& place(bool first) const { return first ? first_place : second_place; }
};

// Returns nullopt for a record that another version of the check wrote.
std::optional<Comparison> decode_comparison(const CatalogComparison& kept);
CatalogComparison encode_for_catalog(const ContentHash& first, const ContentHash& second, const Comparison& comparison);

// Relation of a picture to the one that would be kept, by the detailed check.
enum class RelationToKeeper : std::uint8_t { same, shows_more, has_more_detail, contains, other, unchecked };
// `first_is_keeper`: the picture that would be kept is the first of the two.
RelationToKeeper derive_relation(const Comparison& comparison, bool first_is_keeper);

}  // namespace millrace::dedupe
