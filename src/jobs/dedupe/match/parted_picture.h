// Input: thumbnails of two pictures; one may be a crop of the other, or the other rotated or mirrored.
// Output: a verdict by their pixels, and the transform between them.
// Never: decodes an image file: it compares the catalog's thumbnails.
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
  bool cuts = true;    // crops: fixed windows, and the contents of frames and screens
  bool turned = true;  // rotated or mirrored copies
  bool any() const { return cuts || turned; }
  bool operator==(const WantedParts&) const = default;
};

// A thumbnail with its features and the codes of its crops.
struct PartedPicture {
  Thumbnail thumbnail;
  similarity::Thumbnail squeezed;
  similarity::Features whole;
  std::vector<parts::Area> boxes;
  parts::Codes codes;
};
// Returns nullopt where the thumbnail does not decode. Without wanted parts `codes` stays empty; find_codes() computes
// it later.
std::optional<PartedPicture> parted_picture(std::span<const std::uint8_t> jpeg, WantedParts wanted);
void find_codes(PartedPicture& picture, WantedParts wanted);
// Computes the codes alone, in a third of the time. A thumbnail that does not decode has codes that match no other.
parts::Codes part_codes(std::span<const std::uint8_t> jpeg, WantedParts wanted);

struct PartMeeting {
  Judgement judgement;
  Orientation orientation = Orientation::upright;  // of the second image
  // Affine transform between the images, both with sides that span [-0.5, 0.5]. A point (x, y) of the first is at (m0 +
  // m1 x + m2 y, m3 + m4 x + m5 y) of the second after `orientation` is applied.
  std::array<float, 6> meeting = {0, 1, 0, 0, 0, 1};
};
// Returns the best match among all parts with similar codes; the kind is `different` if no codes are similar.
PartMeeting compare_parts(const PartedPicture& first, const PartedPicture& second);

// Finds the transform for the detailed check: between the whole upright images, or, where those differ, by a crop of
// one or in another orientation.
struct Meeting {
  Orientation orientation = Orientation::upright;  // as in PartMeeting
  std::array<float, 6> map = {0, 1, 0, 0, 0, 1};
  bool looked_for_parts = false;
};
Meeting meeting_of(PartedPicture& first, PartedPicture& second, WantedParts wanted);

}  // namespace millrace::dedupe
