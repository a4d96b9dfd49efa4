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
    const bool turned = p >= parts::kWindows && p < parts::kWindows + parts::kTurned;
    if (!(turned ? wanted.turned : wanted.cuts)) out.parts[p] = parts::kSilent;
  }
  return out;
}

// Pixels around an area, whole ones.
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

// From the whole of a picture to its part, and back: each axis scaled about its middle and moved.
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

struct Found {
  int signs;
  bool in_second;
  std::size_t part;
};

// What of either's parts is like the other's whole, the nearest first.
std::vector<Found> meetings(const parts::Codes& first, const parts::Codes& second) {
  std::vector<Found> out;
  for (const bool in_second : {false, true}) {
    const parts::Codes &one = in_second ? second : first, &other = in_second ? first : second;
    for (std::size_t p = 0; p < parts::kParts; ++p) {
      constexpr parts::Code kAllSigns = (parts::Code{1} << parts::kSigns) - 1;
      if (parts::meet(one, p, other))
        out.push_back({std::popcount((one.parts[p] ^ other.whole) & kAllSigns), in_second, p});
    }
  }
  std::sort(out.begin(), out.end(), [](const Found& a, const Found& b) {
    return std::tuple(a.signs, a.in_second, a.part) < std::tuple(b.signs, b.in_second, b.part);
  });
  return out;
}

PartMeeting compare_part(const PartedPicture& first, const PartedPicture& second, const Found& found) {
  const PartedPicture& whole = found.in_second ? first : second;
  const PartedPicture& parted = found.in_second ? second : first;
  const parts::View view = parts::view_of(found.part, parted.boxes);
  PartMeeting out;
  if (view.orientation != Orientation::upright) {
    // The first turned is the second: the second turned back is the first.
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

std::optional<PartedPicture> parted_picture(std::span<const std::uint8_t> jpeg, WantedParts wanted) {
  auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return std::nullopt;
  std::optional<PartedPicture> out(std::in_place);
  out->thumbnail = std::move(*thumbnail);
  const auto small = squeezed(out->thumbnail, similarity::kSide);
  std::copy(small.begin(), small.end(), out->squeezed.begin());
  out->boxes = boxes_of(out->thumbnail);
  out->codes = wanted_codes(out->squeezed, out->thumbnail, out->boxes, wanted);
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

namespace {

Map inverse_of(const Map& m) {
  const float det = m[1] * m[5] - m[2] * m[4];
  if (std::fabs(det) < 1e-6F) return {2, 1, 0, 2, 0, 1};  // beside it
  return {(m[2] * m[3] - m[5] * m[0]) / det, m[5] / det,  -m[2] / det,
          (m[4] * m[0] - m[1] * m[3]) / det, -m[4] / det, m[1] / det};
}

// How much neighbouring pixels differ in an area, in the mean.
float detail_in(const Thumbnail& of, const parts::Area& area) {
  const auto luma = [&](int x, int y) {
    const auto at =
        3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(of.width) + static_cast<std::size_t>(x));
    return of.rgb[at] + 2 * of.rgb[at + 1] + of.rgb[at + 2];
  };
  const auto first = [](float share, int side) {
    return std::clamp(static_cast<int>(std::lround(share * static_cast<float>(side))), 0, side - 1);
  };
  double sum = 0, count = 0;
  for (int y = first(area.top, of.height); y < first(area.bottom, of.height); ++y) {
    for (int x = first(area.left, of.width); x < first(area.right, of.width); ++x, ++count)
      sum += std::abs(luma(x + 1, y) - luma(x, y)) + std::abs(luma(x, y + 1) - luma(x, y));
  }
  return static_cast<float>(count > 0 ? sum / count : 0);
}

// Whether what lies around a picture, whose corners a map takes into another, is nothing that a photograph goes on
// with. Each side has to be told: it is that one's own, a content box ends there, or what is beyond has little detail
// (less where there are bars of one width on two sides only, as they are put there: these may be a blurred picture).
bool is_enclosed(const Map& m, const Thumbnail& in) {
  constexpr float kNear = 0.03F, kOwn = 0.01F, kWide = 0.08F, kOfBars = 0.4F, kOfOthers = 0.2F;
  const auto at = [&](float x, float y) {
    return std::pair(m[0] + m[1] * x + m[2] * y + 0.5F, m[3] + m[4] * x + m[5] * y + 0.5F);
  };
  const auto [left, top] = at(-0.5F, -0.5F);
  const auto [right, bottom] = at(0.5F, 0.5F);
  if (!(right - left > 0.1F) || !(bottom - top > 0.1F)) return false;  // turned, or beside it
  const auto near = [](float a, float b) { return std::fabs(a - b) <= kNear; };
  const auto spans = [&](float from, float to) { return near(from, 0) && near(to, 1); };
  const auto is_between_bars = [&](float from, float to) { return from > kNear && near(from, 1 - to); };
  const bool bars =
      (spans(left, right) && is_between_bars(top, bottom)) || (spans(top, bottom) && is_between_bars(left, right));
  const std::vector<parts::Area> boxes = boxes_of(in);
  const float little = (bars ? kOfBars : kOfOthers) * detail_in(in, {left, top, right, bottom});
  // Without the edge itself, which belongs to neither.
  constexpr float kEdge = 0.015F;
  struct Side {
    float edge, own;
    float parts::Area::*of_box;
    parts::Area beyond;
  };
  const std::array<Side, 4> sides = {Side{left, 0, &parts::Area::left, {0, 0, left - kEdge, 1}},
                                     {right, 1, &parts::Area::right, {right + kEdge, 0, 1, 1}},
                                     {top, 0, &parts::Area::top, {0, 0, 1, top - kEdge}},
                                     {bottom, 1, &parts::Area::bottom, {0, bottom + kEdge, 1, 1}}};
  int signs = 0;
  for (const Side& side : sides) {
    const bool thin = near(side.edge, side.own);
    const float within = thin ? kOwn : kNear;
    const bool of_box = std::any_of(boxes.begin(), boxes.end(), [&](const parts::Area& box) {
      const float edge = box.*side.of_box;
      return std::fabs(edge - side.edge) <= within && std::fabs(edge - side.own) > kOwn;
    });
    // Of a narrow strip its detail says little: skies have none. A thin one speaks where a box ends, and not alone.
    const bool wide = std::fabs(side.edge - side.own) > kWide;
    if (!thin && !of_box && (!wide || detail_in(in, side.beyond) >= little)) return false;
    signs += !thin ? 2 : of_box ? 1 : 0;
  }
  return signs >= 2;
}

}  // namespace

Enclosed enclosed(const Thumbnail& first, const Thumbnail& second, const std::array<float, 6>& meeting) {
  return {is_enclosed(meeting, second), is_enclosed(inverse_of(meeting), first)};
}

PartMeeting compare_parts(const PartedPicture& first, const PartedPicture& second) {
  constexpr std::size_t kMost = 4;  // neighbouring windows are alike
  PartMeeting best;
  std::size_t count = 0;
  for (const Found& found : meetings(first.codes, second.codes)) {
    const PartMeeting one = compare_part(first, second, found);
    if (better(one.judgement, best.judgement)) best = one;
    if (best.judgement.kind == similarity::Kind::same || ++count == kMost) break;
  }
  return best;
}

}  // namespace millrace::dedupe
