#include "src/jobs/dedupe/match/parted_picture.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::dedupe {
namespace {

using Map = std::array<float, 6>;

std::vector<parts::Area> boxes_of(const Thumbnail& thumbnail) {
  return parts::content_boxes(thumbnail.rgb, thumbnail.width, thumbnail.height);
}

parts::Codes wanted_codes(std::span<const std::uint8_t, similarity::kThumbnailBytes> squeezed,
                          const Thumbnail& thumbnail, std::span<const parts::Area> boxes, WantedParts wanted) {
  parts::Codes out = parts::codes_of(squeezed, thumbnail.width, thumbnail.height, boxes);
  for (std::size_t p = 0; p < parts::kParts; ++p) {
    const bool turned = parts::place_of(p).kind == parts::PartKind::turned;
    if (!(turned ? wanted.turned : wanted.cuts)) out.parts[p] = parts::kSilent;
  }
  return out;
}

// Rectangle of an area, rounded to whole pixels, at least 8 pixels a side if the image has as many.
struct Cut {
  int left, top, right, bottom;

  Cut(const parts::Area& area, int width, int height) {
    const auto pixels = [](float from, float to, int side, int& first, int& last) {
      constexpr int kFewest = 8;
      first =
          std::clamp(static_cast<int>(std::lround(from * static_cast<float>(side))), 0, std::max(0, side - kFewest));
      last = std::clamp(static_cast<int>(std::lround(to * static_cast<float>(side))), std::min(side, first + kFewest),
                        side);
    };
    pixels(area.left, area.right, width, left, right);
    pixels(area.top, area.bottom, height, top, bottom);
  }
};

similarity::Thumbnail squeezed_part(const Thumbnail& of, const Cut& cut) {
  Thumbnail part{cut.right - cut.left, cut.bottom - cut.top, {}};
  part.rgb.reserve(3 * static_cast<std::size_t>(part.width) * static_cast<std::size_t>(part.height));
  for (int y = cut.top; y < cut.bottom; ++y) {
    const auto at = [&](int x) { return of.rgb.begin() + 3 * (static_cast<std::ptrdiff_t>(y) * of.width + x); };
    part.rgb.insert(part.rgb.end(), at(cut.left), at(cut.right));
  }
  const auto pixels = squeezed(part, similarity::kSide);
  similarity::Thumbnail out;
  std::copy(pixels.begin(), pixels.end(), out.begin());
  return out;
}

// Maps coordinates of the whole picture to those of its part: each axis is scaled about its middle and shifted.
struct Axis {
  float scale, shift;
  Axis(int from, int to, int side)
      : scale(static_cast<float>(side) / static_cast<float>(to - from)),
        shift((0.5F * static_cast<float>(side) - static_cast<float>(from)) / static_cast<float>(to - from) - 0.5F) {}
};
Map into_part_first(const Map& m, const Axis& x, const Axis& y) {
  return {m[0] + m[1] * x.shift + m[2] * y.shift, m[1] * x.scale, m[2] * y.scale,
          m[3] + m[4] * x.shift + m[5] * y.shift, m[4] * x.scale, m[5] * y.scale};
}
Map out_of_part_last(const Map& m, const Axis& x, const Axis& y) {
  return {(m[0] - x.shift) / x.scale, m[1] / x.scale, m[2] / x.scale,
          (m[3] - y.shift) / y.scale, m[4] / y.scale, m[5] / y.scale};
}

struct MetPart {
  int signs;
  bool in_second;
  std::size_t part;
};

// Returns the parts of either picture that resemble the whole of the other, the nearest first.
std::vector<MetPart> meetings(const parts::Codes& first, const parts::Codes& second) {
  std::vector<MetPart> out;
  for (const bool in_second : {false, true}) {
    const parts::Codes &one = in_second ? second : first, &other = in_second ? first : second;
    for (std::size_t p = 0; p < parts::kParts; ++p) {
      constexpr parts::Code kAllSigns = (parts::Code{1} << parts::kSigns) - 1;
      if (parts::meet(one, p, other))
        out.push_back({std::popcount((one.parts[p] ^ other.whole) & kAllSigns), in_second, p});
    }
  }
  std::sort(out.begin(), out.end(), [](const MetPart& a, const MetPart& b) {
    return std::tuple(a.signs, a.in_second, a.part) < std::tuple(b.signs, b.in_second, b.part);
  });
  return out;
}

PartMeeting compare_part(const PartedPicture& first, const PartedPicture& second, const MetPart& found) {
  const PartedPicture& whole = found.in_second ? first : second;
  const PartedPicture& parted = found.in_second ? second : first;
  const parts::View view = parts::view_of(found.part, parted.boxes);
  PartMeeting out;
  if (view.orientation != Orientation::upright) {
    // If `found` says that the first rotated is the second, the second is rotated back to the first.
    out.orientation = found.in_second ? view.orientation : inverse(view.orientation);
    const similarity::Features turned = similarity::features_of(similarity::oriented(second.squeezed, out.orientation));
    const similarity::Comparison verdict = similarity::compare(first.whole, turned);
    out.judgement = {verdict.kind, verdict.score};
    if (verdict.kind != similarity::Kind::different) out.meeting = similarity::meeting_of(first.whole, turned);
    return out;
  }
  const Cut cut(view.area, parted.thumbnail.width, parted.thumbnail.height);
  const similarity::Features part = similarity::features_of(squeezed_part(parted.thumbnail, cut));
  const similarity::Comparison verdict = similarity::compare(part, whole.whole);
  out.judgement = {verdict.kind, verdict.score};
  if (verdict.kind == similarity::Kind::different) return out;
  const Axis x(cut.left, cut.right, parted.thumbnail.width), y(cut.top, cut.bottom, parted.thumbnail.height);
  out.meeting = found.in_second ? out_of_part_last(similarity::meeting_of(whole.whole, part), x, y)
                                : into_part_first(similarity::meeting_of(part, whole.whole), x, y);
  return out;
}

}  // namespace

void find_codes(PartedPicture& picture, WantedParts wanted) {
  if (!wanted.any()) return;
  picture.codes = wanted_codes(picture.squeezed, picture.thumbnail, picture.boxes, wanted);
}

std::optional<PartedPicture> parted_picture(std::span<const std::uint8_t> jpeg, WantedParts wanted) {
  auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return std::nullopt;
  std::optional<PartedPicture> out(std::in_place);
  out->thumbnail = std::move(*thumbnail);
  const auto small = squeezed(out->thumbnail, similarity::kSide);
  std::copy(small.begin(), small.end(), out->squeezed.begin());
  out->boxes = boxes_of(out->thumbnail);
  find_codes(*out, wanted);
  out->whole = similarity::features_of(out->squeezed);
  return out;
}

parts::Codes part_codes(std::span<const std::uint8_t> jpeg, WantedParts wanted) {
  const auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return {};
  const auto small = squeezed(*thumbnail, similarity::kSide);
  return wanted_codes(std::span<const std::uint8_t, similarity::kThumbnailBytes>(small), *thumbnail,
                      boxes_of(*thumbnail), wanted);
}

PartMeeting compare_parts(const PartedPicture& first, const PartedPicture& second) {
  constexpr std::size_t kMost = 4;  // neighbouring windows are alike, so more would add little
  PartMeeting best;
  std::size_t count = 0;
  for (const MetPart& found : meetings(first.codes, second.codes)) {
    const PartMeeting one = compare_part(first, second, found);
    if (better(one.judgement, best.judgement)) best = one;
    if (best.judgement.kind == similarity::Kind::same || ++count == kMost) break;
  }
  return best;
}

Meeting meeting_of(PartedPicture& first, PartedPicture& second, WantedParts wanted) {
  Meeting out;
  out.map = similarity::meeting_of(first.whole, second.whole);
  if (!wanted.any() || similarity::same(first.whole, second.whole)) return out;
  out.looked_for_parts = true;
  for (PartedPicture* picture : {&first, &second}) find_codes(*picture, wanted);
  const PartMeeting met = compare_parts(first, second);
  if (met.judgement.kind == similarity::Kind::same) {
    out.orientation = met.orientation;
    out.map = met.meeting;
  }
  return out;
}

}  // namespace millrace::dedupe
