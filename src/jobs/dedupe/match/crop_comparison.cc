#include "src/jobs/dedupe/match/crop_comparison.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::dedupe {
namespace {

// docs/design/crops.md gives the reasons for the constants of this file.

using Map = std::array<float, 6>;

std::vector<crops::CropArea> boxes_of(const Thumbnail& thumbnail) {
  return crops::content_boxes(thumbnail.rgb, thumbnail.width, thumbnail.height);
}

crops::CropCodes select_crop_codes(std::span<const std::uint8_t, similarity::kThumbnailBytes> squeezed,
                                   const Thumbnail& thumbnail, std::span<const crops::CropArea> boxes,
                                   TransformKinds wanted) {
  crops::CropCodes out = crops::codes_of(squeezed, thumbnail.width, thumbnail.height, boxes);
  for (std::size_t p = 0; p < crops::kCropCount; ++p) {
    const bool turned = crops::crop_index_of(p).kind == crops::CropKind::turned;
    if (!(turned ? wanted.turned : wanted.crops)) out.parts[p] = crops::kSilent;
  }
  return out;
}

// Rectangle of an area, rounded to whole pixels, at least 8 pixels a side if the image has as many.
struct CropRect {
  int left, top, right, bottom;

  CropRect(const crops::CropArea& area, int width, int height) {
    const auto pixels = [](float from, float to, int side, int& first, int& last) {
      constexpr int kMinPixels = 8;
      first =
          std::clamp(static_cast<int>(std::lround(from * static_cast<float>(side))), 0, std::max(0, side - kMinPixels));
      last = std::clamp(static_cast<int>(std::lround(to * static_cast<float>(side))),
                        std::min(side, first + kMinPixels), side);
    };
    pixels(area.left, area.right, width, left, right);
    pixels(area.top, area.bottom, height, top, bottom);
  }
};

similarity::Thumbnail squeeze_crop(const Thumbnail& of, const CropRect& cut) {
  Thumbnail part{cut.right - cut.left, cut.bottom - cut.top, {}};
  part.rgb.reserve(3 * static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height));
  for (int y = cut.top; y < cut.bottom; ++y) {
    const auto at = [&](int x) { return of.rgb.begin() + 3 * (static_cast<std::ptrdiff_t>(y) * of.width + x); };
    part.rgb.insert(part.rgb.end(), at(cut.left), at(cut.right));
  }
  const auto pixels = resize_to_square(part, similarity::kSide);
  similarity::Thumbnail out;
  std::copy(pixels.begin(), pixels.end(), out.begin());
  return out;
}

// Maps coordinates of the whole picture to those of its crop: each axis is scaled about its middle and shifted.
struct Axis {
  float scale, shift;
  Axis(int from, int to, int side)
      : scale(static_cast<float>(side) / static_cast<float>(to - from)),
        shift((0.5F * static_cast<float>(side) - static_cast<float>(from)) / static_cast<float>(to - from) - 0.5F) {}
};
Map map_from_crop_first(const Map& m, const Axis& x, const Axis& y) {
  return {m[0] + m[1] * x.shift + m[2] * y.shift, m[1] * x.scale, m[2] * y.scale,
          m[3] + m[4] * x.shift + m[5] * y.shift, m[4] * x.scale, m[5] * y.scale};
}
Map map_to_crop_last(const Map& m, const Axis& x, const Axis& y) {
  return {(m[0] - x.shift) / x.scale, m[1] / x.scale, m[2] / x.scale,
          (m[3] - y.shift) / y.scale, m[4] / y.scale, m[5] / y.scale};
}

struct CropCandidate {
  int signs;
  bool in_second;
  std::size_t part;
};

// Returns the crops of either picture that resemble the whole of the other, the most similar first.
std::vector<CropCandidate> find_crop_candidates(const crops::CropCodes& first, const crops::CropCodes& second) {
  std::vector<CropCandidate> out;
  for (const bool in_second : {false, true}) {
    const crops::CropCodes &one = in_second ? second : first, &other = in_second ? first : second;
    for (std::size_t p = 0; p < crops::kCropCount; ++p) {
      constexpr crops::CropCode kAllSigns = (crops::CropCode{1} << crops::kSigns) - 1;
      if (crops::can_match(one, p, other))
        out.push_back({std::popcount((one.parts[p] ^ other.whole) & kAllSigns), in_second, p});
    }
  }
  std::sort(out.begin(), out.end(), [](const CropCandidate& a, const CropCandidate& b) {
    return std::tuple(a.signs, a.in_second, a.part) < std::tuple(b.signs, b.in_second, b.part);
  });
  return out;
}

CropMatch compare_crop(const ThumbnailFeatures& first, const ThumbnailFeatures& second, const CropCandidate& found) {
  const ThumbnailFeatures& whole = found.in_second ? first : second;
  const ThumbnailFeatures& parted = found.in_second ? second : first;
  const crops::CropView view = crops::view_of(found.part, parted.boxes);
  CropMatch out;
  if (view.orientation != Orientation::upright) {
    // If `found` says that the first rotated is the second, the second is rotated back to the first.
    out.orientation = found.in_second ? view.orientation : inverse(view.orientation);
    const similarity::Features turned = similarity::features_of(similarity::oriented(second.squeezed, out.orientation));
    const similarity::Comparison verdict = similarity::compare(first.whole, turned);
    out.judgement = {verdict.kind, verdict.score};
    if (verdict.kind != similarity::SimilarityKind::different)
      out.transform = similarity::find_registration(first.whole, turned);
    return out;
  }
  const CropRect cut(view.area, parted.thumbnail.width, parted.thumbnail.height);
  const similarity::Features part = similarity::features_of(squeeze_crop(parted.thumbnail, cut));
  const similarity::Comparison verdict = similarity::compare(part, whole.whole);
  out.judgement = {verdict.kind, verdict.score};
  if (verdict.kind == similarity::SimilarityKind::different) return out;
  const Axis x(cut.left, cut.right, parted.thumbnail.width), y(cut.top, cut.bottom, parted.thumbnail.height);
  out.transform = found.in_second ? map_to_crop_last(similarity::find_registration(whole.whole, part), x, y)
                                  : map_from_crop_first(similarity::find_registration(part, whole.whole), x, y);
  return out;
}

}  // namespace

void fill_crop_codes(ThumbnailFeatures& picture, TransformKinds wanted) {
  if (!wanted.any()) return;
  picture.codes = select_crop_codes(picture.squeezed, picture.thumbnail, picture.boxes, wanted);
}

std::optional<ThumbnailFeatures> compute_thumbnail_features(std::span<const std::uint8_t> jpeg, TransformKinds wanted) {
  auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return std::nullopt;
  std::optional<ThumbnailFeatures> out(std::in_place);
  out->thumbnail = std::move(*thumbnail);
  const auto small = resize_to_square(out->thumbnail, similarity::kSide);
  std::copy(small.begin(), small.end(), out->squeezed.begin());
  out->boxes = boxes_of(out->thumbnail);
  fill_crop_codes(*out, wanted);
  out->whole = similarity::features_of(out->squeezed);
  return out;
}

crops::CropCodes compute_crop_codes(std::span<const std::uint8_t> jpeg, TransformKinds wanted) {
  const auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return {};
  const auto small = resize_to_square(*thumbnail, similarity::kSide);
  return select_crop_codes(std::span<const std::uint8_t, similarity::kThumbnailBytes>(small), *thumbnail,
                           boxes_of(*thumbnail), wanted);
}

CropMatch compare_crops(const ThumbnailFeatures& first, const ThumbnailFeatures& second) {
  constexpr std::size_t kMaxCandidates = 4;  // neighbouring windows are alike, so more would add little
  CropMatch best;
  std::size_t count = 0;
  for (const CropCandidate& found : find_crop_candidates(first.codes, second.codes)) {
    const CropMatch one = compare_crop(first, second, found);
    if (is_better_match(one.judgement, best.judgement)) best = one;
    if (best.judgement.kind == similarity::SimilarityKind::same || ++count == kMaxCandidates) break;
  }
  return best;
}

PictureRegistration find_registration(ThumbnailFeatures& first, ThumbnailFeatures& second, TransformKinds wanted) {
  PictureRegistration out;
  out.map = similarity::find_registration(first.whole, second.whole);
  if (!wanted.any() || similarity::same(first.whole, second.whole)) return out;
  out.searched_crops = true;
  for (ThumbnailFeatures* picture : {&first, &second}) fill_crop_codes(*picture, wanted);
  const CropMatch met = compare_crops(first, second);
  if (met.judgement.kind == similarity::SimilarityKind::same) {
    out.orientation = met.orientation;
    out.map = met.transform;
  }
  return out;
}

}  // namespace millrace::dedupe
