// Input: thumbnails of two pictures of which one may be a part of the other, or its like turned.
// Output: a verdict by their pixels, and where they meet.
// Never: decodes a picture: it looks at the catalogue's thumbnails.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/match/pair_verifier.h"
#include "src/kernels/parts/parts.h"

namespace millrace::dedupe {

struct WantedParts {
  bool cuts = true;    // windows, and what frames and screens enclose
  bool turned = true;  // and mirrored
  bool any() const { return cuts || turned; }
  bool operator==(const WantedParts&) const = default;
};

// A thumbnail with what is told of its parts.
struct PartedPicture {
  Thumbnail thumbnail;
  similarity::Thumbnail squeezed;
  similarity::Features whole;
  std::vector<parts::Area> boxes;
  parts::Codes codes;
};
// Nothing where the thumbnail does not decode. Without codes where no parts are wanted: find_codes() makes up for it.
std::optional<PartedPicture> parted_picture(std::span<const std::uint8_t> jpeg, WantedParts wanted);
void find_codes(PartedPicture& picture, WantedParts wanted);
// Its codes alone, at a third of the time; such as meet nobody where it does not decode.
parts::Codes part_codes(std::span<const std::uint8_t> jpeg, WantedParts wanted);

struct PartMeeting {
  Judgement judgement;
  Orientation orientation = Orientation::upright;  // of the second
  // A point (x, y) of the first, whose sides span [-0.5, 0.5], lies at (m0 + m1 x + m2 y, m3 + m4 x + m5 y) of the
  // second, turned.
  std::array<float, 6> meeting = {0, 1, 0, 0, 0, 1};
};
// Of all parts whose codes meet, the one that tells most. `different` where none do.
PartMeeting compare_parts(const PartedPicture& first, const PartedPicture& second);

// For whoever looks closer: where they meet as they stand, or, where the wholes are not alike, by a part of one or
// turned.
struct Meeting {
  Orientation orientation = Orientation::upright;  // as PartMeeting has both
  std::array<float, 6> map = {0, 1, 0, 0, 0, 1};
  bool looked_for_parts = false;
};
Meeting meeting_of(PartedPicture& first, PartedPicture& second, WantedParts wanted);

}  // namespace millrace::dedupe
