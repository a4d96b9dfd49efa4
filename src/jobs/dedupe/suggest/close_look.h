// Input: what a closer look at two pictures said, or what the catalogue keeps of it.
// Output: the same in the other form; and whether one of the two may go for the other.
// Never: looks at a picture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/match/parted_picture.h"
#include "src/kernels/closelook/closelook.h"

namespace millrace::dedupe {

// Of two pictures, the one with the lower content first.
struct CloseLook {
  bool seen = false;           // both could be decoded; nothing else is said where not
  bool in_srgb = false;        // profiles of colours that are not sRGB's were applied
  bool one_shows_all = false;  // all that one of the two holds was looked at, and not all of the other
  bool same_pixels = false;    // decoded in full, every one of them
  closelook::Kind kind = closelook::Kind::different;
  closelook::Contained contained = closelook::Contained::neither;
  float scale = 0;                                     // pixels of the second to one of the first, along a side
  bool enlarged = false;                               // the one with more pixels shows nothing finer than the other
  bool first_sharper = false, second_sharper = false;  // in some places, and in none softer
  // Which is the other one, saved again at a higher quality; told of JPEGs that no camera signed.
  bool first_saved_again = false, second_saved_again = false;
  bool first_framed = false, second_framed = false;  // a plain frame around what both show, of which only it has one
  // Where they differ most, in shares of each one's sides: left, top, right, bottom.
  std::array<float, 4> first_place{}, second_place{};
  // Which of their parts were looked for, where the wholes are not alike: where they meet hangs on it.
  std::optional<WantedParts> looked_for{};

  // These ask of one of the two.
  bool sharper(bool first) const { return first ? first_sharper : second_sharper; }
  bool saved_again(bool first) const { return first ? first_saved_again : second_saved_again; }
  bool framed(bool first) const { return first ? first_framed : second_framed; }
  const std::array<float, 4>& place(bool first) const { return first ? first_place : second_place; }
};

// Nothing of one that another version of the look said.
std::optional<CloseLook> close_look_from(const CatalogCloseLook& kept);
CatalogCloseLook kept_of(const ContentHash& first, const ContentHash& second, const CloseLook& look);

// What a close look says of a picture beside the one that would stay.
enum class Standing : std::uint8_t { same, shows_more, has_more_detail, contains, other, unseen };
// `first_stays`: the one that would stay is the first of the two.
Standing standing_of(const CloseLook& look, bool first_stays);

}  // namespace millrace::dedupe
