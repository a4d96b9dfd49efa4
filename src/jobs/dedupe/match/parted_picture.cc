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

namespace {

Map inverse_of(const Map& m) {
  const float det = m[1] * m[5] - m[2] * m[4];
  if (std::fabs(det) < 1e-6F) return {2, 1, 0, 2, 0, 1};  // beside it
  return {(m[2] * m[3] - m[5] * m[0]) / det, m[5] / det,  -m[2] / det,
          (m[4] * m[0] - m[1] * m[3]) / det, -m[4] / det, m[1] / det};
}

// Lines of a thumbnail, rows or columns, seen from one of its sides, between two places along them.
class LinesFrom {
 public:
  LinesFrom(const Thumbnail& of, bool rows, bool from_last, float first, float last)
      : of_(of), rows_(rows), from_last_(from_last) {
    const auto length = static_cast<float>(rows ? of.width : of.height);
    first_ = std::clamp(static_cast<int>(std::lround(first * length)), 0, static_cast<int>(length) - 1);
    last_ = std::clamp(static_cast<int>(std::lround(last * length)), first_ + 1, static_cast<int>(length));
  }
  int count() const { return rows_ ? of_.height : of_.width; }

  // How much a line differs from the next one, in the mean, in quarters of a level; and its pixels from each other.
  float step(int line) const {
    int sum = 0;
    for (int i = first_; i < last_; ++i) sum += std::abs(luma(line + 1, i) - luma(line, i));
    return static_cast<float>(sum) / static_cast<float>(last_ - first_);
  }
  float along(int line) const {
    int sum = 0;
    for (int i = first_; i + 1 < last_; ++i) sum += std::abs(luma(line, i + 1) - luma(line, i));
    return static_cast<float>(sum) / static_cast<float>(last_ - first_);
  }

 private:
  int luma(int line, int place) const {
    const int l = std::clamp(from_last_ ? count() - 1 - line : line, 0, count() - 1);
    const int x = rows_ ? place : l, y = rows_ ? l : place;
    const auto at =
        3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(of_.width) + static_cast<std::size_t>(x));
    return of_.rgb[at] + 2 * of_.rgb[at + 1] + of_.rgb[at + 2];
  }

  const Thumbnail& of_;
  bool rows_, from_last_;
  int first_, last_;
};

// Whether a photograph goes on across a line that lies a share of the lines in: there is as much detail before it as in
// as many lines behind it, or about, and the line itself is no edge.
bool goes_on(const LinesFrom& lines, float share, bool in_the_middle) {
  // What is put on a ground is put in its middle: there less is let pass.
  const float kAsMuch = in_the_middle ? 0.6F : 0.35F, kEdge = in_the_middle ? 1.6F : 2.2F;
  constexpr float kNoise = 5;  // somewhat more than a level
  const auto edge = static_cast<int>(std::lround(share * static_cast<float>(lines.count())));
  const int width = std::clamp(edge - 2, 1, lines.count() / 6);
  const auto mean = [&](int first, int last, bool along) {
    float sum = 0;
    for (int line = first; line < last; ++line) sum += along ? lines.along(line) : lines.step(line);
    return sum / static_cast<float>(std::max(1, last - first));
  };
  // Away from the line, which mixes both.
  const int before = edge - 2, behind = edge + 2;
  if (mean(std::max(0, before - width), before, true) + kNoise < kAsMuch * mean(behind, behind + width, true))
    return false;
  const float usual = std::max(mean(std::max(0, before - width), before, false), mean(behind, behind + width, false));
  float most = 0;
  for (int line = std::max(0, edge - 2); line <= edge; ++line) most = std::max(most, lines.step(line));
  return most <= kEdge * usual + kNoise;
}

// Whether what lies around a picture, whose corners a map takes into another, is nothing that a photograph goes on
// with: a screen, a blurred picture, a frame. A photograph has to go on at every side that is not that one's own; of a
// thin strip it cannot be told, but where a content box ends.
bool is_enclosed(const Map& m, const PartedPicture& in) {
  constexpr float kThin = 0.03F, kOwn = 0.01F;
  const auto at = [&](float x, float y) {
    return std::pair(m[0] + m[1] * x + m[2] * y + 0.5F, m[3] + m[4] * x + m[5] * y + 0.5F);
  };
  const auto [left, top] = at(-0.5F, -0.5F);
  const auto [right, bottom] = at(0.5F, 0.5F);
  if (!(right - left > 0.1F) || !(bottom - top > 0.1F)) return false;  // turned, or beside it
  struct Side {
    float distance;  // from the other one's
    bool rows, from_last;
    float parts::Area::*of_box;
  };
  const std::array<Side, 4> sides = {Side{left, false, false, &parts::Area::left},
                                     {1 - right, false, true, &parts::Area::right},
                                     {top, true, false, &parts::Area::top},
                                     {1 - bottom, true, true, &parts::Area::bottom}};
  const auto near = [](float a, float b) { return std::fabs(a - b) <= kThin; };
  const bool in_the_middle = near(left, 1 - right) && near(top, 1 - bottom);
  int ends = 0;
  for (const Side& side : sides) {
    if (side.distance > kThin) {
      const LinesFrom lines(in.thumbnail, side.rows, side.from_last, side.rows ? left : top,
                            side.rows ? right : bottom);
      if (!goes_on(lines, side.distance, in_the_middle)) return true;
      continue;
    }
    if (side.distance <= kOwn) continue;
    ends += std::any_of(in.boxes.begin(), in.boxes.end(), [&](const parts::Area& box) {
      const float end = side.from_last ? 1 - box.*side.of_box : box.*side.of_box;
      return std::fabs(end - side.distance) <= kOwn && end > kOwn;
    });
  }
  return ends >= 2;
}

}  // namespace

Enclosed enclosed(const PartedPicture& first, const PartedPicture& second, const std::array<float, 6>& meeting) {
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
