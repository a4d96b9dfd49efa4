// Input: thumbnails of two pictures; one may be a crop of the other, or the other rotated or mirrored.
// Output: a verdict by their pixels, and the transform between them.
// Never: decodes an image file: it compares the catalog's thumbnails.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/match/thumbnail_comparator.h"
#include "src/kernels/crops/crops.h"

namespace millrace::dedupe {

struct TransformKinds {
  bool crops = true;   // crops: fixed windows, and the contents of frames and screens
  bool turned = true;  // rotated or mirrored copies
  bool any() const { return crops || turned; }
  bool operator==(const TransformKinds&) const = default;
};

// A thumbnail with its features and the codes of its crops.
struct ThumbnailFeatures {
  Thumbnail thumbnail;
  similarity::Thumbnail squeezed;
  similarity::Features whole;
  std::vector<crops::CropArea> boxes;
  crops::CropCodes codes;
};
// Returns nullopt where the thumbnail does not decode. Without wanted crops `codes` stays empty; fill_crop_codes()
// computes it later.
std::optional<ThumbnailFeatures> compute_thumbnail_features(std::span<const std::uint8_t> jpeg, TransformKinds wanted);
void fill_crop_codes(ThumbnailFeatures& picture, TransformKinds wanted);
// Computes the codes alone, in a third of the time. A thumbnail that does not decode has codes that match no other.
crops::CropCodes compute_crop_codes(std::span<const std::uint8_t> jpeg, TransformKinds wanted);

struct CropMatch {
  Judgement judgement;
  Orientation orientation = Orientation::upright;  // of the second image
  // Affine transform between the images, both with sides that span [-0.5, 0.5]. A point (x, y) of the first is at (m0 +
  // m1 x + m2 y, m3 + m4 x + m5 y) of the second after `orientation` is applied.
  std::array<float, 6> transform = {0, 1, 0, 0, 0, 1};
};
// Returns the best match among all crops with similar codes; the kind is `different` if no codes are similar.
CropMatch compare_crops(const ThumbnailFeatures& first, const ThumbnailFeatures& second);

// Finds the transform for the detailed check: between the whole upright images, or, where those differ, by a crop of
// one or in another orientation.
struct PictureRegistration {
  Orientation orientation = Orientation::upright;  // as in CropMatch
  std::array<float, 6> map = {0, 1, 0, 0, 0, 1};
  bool searched_crops = false;
};
PictureRegistration find_registration(ThumbnailFeatures& first, ThumbnailFeatures& second, TransformKinds wanted);

}  // namespace millrace::dedupe
