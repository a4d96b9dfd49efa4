#include "src/kernels/detailed_check/detailed_check_frames.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.

// Returns the colour of a frame: the median of each channel outside the box.
std::array<float, 3> colour_outside(const Colour& picture, const PixelBox& box) {
  std::array<float, 3> out{};
  for (std::size_t c = 0; c < 3; ++c) {
    std::array<std::uint32_t, 256> histogram{};
    std::uint64_t count = 0, sum = 0;
    for (int y = 0; y < picture[c].height(); ++y) {
      const bool outer = y < box.top || y >= box.bottom;
      for (int x = 0; x < picture[c].width(); ++x) {
        if (!outer && x >= box.left && x < box.right) continue;
        ++histogram[static_cast<std::size_t>(std::clamp(picture[c].row(y)[x] + 0.5F, 0.0F, 255.0F))];
        ++count;
      }
    }
    std::size_t level = 0;
    while (level < 255 && 2 * (sum += histogram[level]) < count) ++level;
    out[c] = static_cast<float>(level);
  }
  return out;
}

// True if nine in ten pixels outside the box are within two levels of their colour, on two sides that face each other.
// Sky is not so even, and a black ground beside a thing lies on one side.
bool is_drawn(const Colour& picture, const PixelBox& box) {
  const bool beside = box.left > 0 && box.right < picture[0].width();
  const bool above = box.top > 0 && box.bottom < picture[0].height();
  if (!beside && !above) return false;
  const std::array<float, 3> colour = colour_outside(picture, box);
  std::int64_t count = 0, near = 0;
  for (int y = 0; y < picture[0].height(); ++y) {
    const bool outer = y < box.top || y >= box.bottom;
    for (int x = 0; x < picture[0].width(); ++x) {
      if (!outer && x >= box.left && x < box.right) continue;
      ++count;
      float most = 0;
      for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::fabs(picture[c].row(y)[x] - colour[c]));
      near += most <= 2.5F ? 1 : 0;
    }
  }
  return 10 * near >= 9 * count;
}

// True if the content of a box has straight edges: along every side with a frame, a third of its pixels differ from the
// frame. That does not hold for a dark room in black, a page and its margins, or an eye's round image.
bool has_straight_edge(const Colour& picture, const PixelBox& box) {
  const int w = picture[0].width(), h = picture[0].height();
  constexpr int kInside = 2;  // pixels to skip: the edge itself mixes both
  constexpr float kOther = 10, kMaxShare = 0.35F;
  const std::array<float, 3> colour = colour_outside(picture, box);
  const auto ends = [&](int from_x, int from_y, int to_x, int to_y) {
    int count = 0, other = 0;
    for (int y = from_y; y <= to_y; ++y) {
      for (int x = from_x; x <= to_x; ++x, ++count) {
        float most = 0;
        for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::fabs(picture[c].row(y)[x] - colour[c]));
        other += most > kOther ? 1 : 0;
      }
    }
    return static_cast<float>(other) >= kMaxShare * static_cast<float>(count);
  };
  const int left = box.left + kInside, top = box.top + kInside, right = box.right - 1 - kInside,
            bottom = box.bottom - 1 - kInside;
  if (left >= right || top >= bottom) return false;
  return (box.top == 0 || ends(left, top, right, top)) && (box.bottom == h || ends(left, bottom, right, bottom)) &&
         (box.left == 0 || ends(left, top, left, bottom)) && (box.right == w || ends(right, top, right, bottom));
}

}  // namespace

PixelBox content_box(const Colour& picture) {
  const int w = picture[0].width(), h = picture[0].height();
  constexpr float kWithin = 10;
  // Counts the plain lines from an edge on; `at(line, place, channel)` returns a level.
  const auto run = [&](int lines, int length, const auto& at) {
    std::array<float, 3> colour;
    std::vector<float> values(static_cast<std::size_t>(length));
    for (std::size_t c = 0; c < 3; ++c) {
      for (int i = 0; i < length; ++i) values[static_cast<std::size_t>(i)] = at(0, i, c);
      std::nth_element(values.begin(), values.begin() + length / 2, values.end());
      colour[c] = values[static_cast<std::size_t>(length / 2)];
    }
    const int most = lines / 2 - 2;
    for (int line = 0; line < most; ++line) {
      for (int i = 0; i < length; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
          if (std::fabs(at(line, i, c) - colour[c]) > kWithin) return line;
        }
      }
    }
    return std::max(0, most);
  };
  const int top = run(h, w, [&](int y, int x, std::size_t c) { return picture[c].row(y)[x]; });
  const int bottom = run(h, w, [&](int y, int x, std::size_t c) { return picture[c].row(h - 1 - y)[x]; });
  const int left = run(w, h, [&](int x, int y, std::size_t c) { return picture[c].row(y)[x]; });
  const int right = run(w, h, [&](int x, int y, std::size_t c) { return picture[c].row(y)[w - 1 - x]; });
  if (h - top - bottom < 16 || w - left - right < 16) return {0, 0, w, h};
  return {left, top, w - right, h - bottom};
}

FramePair::FramePair(const Colour& t, const Colour& s, const Affine& warp)
    : target(content_box(t)),
      source(content_box(s)),
      drawn_target(is_drawn(t, target)),
      drawn_source(is_drawn(s, source)) {
  const bool framed_t = !(target == whole(size_of(t))), framed_s = !(source == whole(size_of(s)));
  any = framed_t || framed_s;
  if (!any) return;
  constexpr double kNear = 4;
  const Affine back = warp.inverse();
  const auto far = [&](int x, int y, int left, int top) {
    const double u = back.u(x - 0.5, y - 0.5) + 0.5, v = back.v(x - 0.5, y - 0.5) + 0.5;
    return std::max(std::fabs(u - left), std::fabs(v - top));
  };
  // An added frame surrounds all that the other picture shows.
  const PixelBox whole_t = whole(size_of(t)), whole_s = whole(size_of(s));
  const auto meet = [&](const PixelBox& in_source, const PixelBox& in_target) {
    return far(in_source.left, in_source.top, in_target.left, in_target.top) < kNear &&
           far(in_source.right, in_source.bottom, in_target.right, in_target.bottom) < kNear;
  };
  put_around_target = drawn_target && meet(whole_s, target) && has_straight_edge(t, target);
  put_around_source = drawn_source && meet(source, whole_t) && has_straight_edge(s, source);
  bool one = meet(source, target);
  if (!one && framed_t && framed_s) {
    const auto a = colour_outside(t, target), b = colour_outside(s, source);
    float most = 0;
    for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::fabs(a[c] - b[c]));
    one = most <= 25;
  }
  if (one) any = false;
}
// Considers each frame by itself, whether the other picture has the same or not.
PixelBox FramePair::shared(const Affine& warp, const Size& of, const Size& as) const {
  const Affine back = warp.inverse();
  const auto at = [&](int x, int y) {
    return std::pair(back.u(x - 0.5, y - 0.5) + 0.5, back.v(x - 0.5, y - 0.5) + 0.5);
  };
  const auto first = at(source.left, source.top), last = at(source.right, source.bottom);
  const double sx = static_cast<double>(as.width) / of.width, sy = static_cast<double>(as.height) / of.height;
  // Keeps away from the edges, which mix frame and picture.
  constexpr double kEdge = 2;
  const auto side = [](double v, int size) { return static_cast<int>(std::clamp<double>(v, 0, size)); };
  return {side((std::max<double>(target.left, first.first) + kEdge) * sx, as.width),
          side((std::max<double>(target.top, first.second) + kEdge) * sy, as.height),
          side((std::min<double>(target.right, last.first) - kEdge) * sx, as.width),
          side((std::min<double>(target.bottom, last.second) - kEdge) * sy, as.height)};
}

namespace {

PixelBox scaled(const PixelBox& box, const Size& of, const PictureRaster& as) {
  const double x = static_cast<double>(as.width) / of.width, y = static_cast<double>(as.height) / of.height;
  return {static_cast<int>(std::floor(box.left * x)), static_cast<int>(std::floor(box.top * y)),
          static_cast<int>(std::ceil(box.right * x)), static_cast<int>(std::ceil(box.bottom * y))};
}

// A picture, and the one that it is compared with.
struct Facing {
  const PictureRaster& raster;
  PixelBox content;
  const PictureRaster& other;
  PixelBox other_content;
  Affine warp;        // map to the other
  double pitch;       // pixels of the raster to one of the size that the boxes were found at
  bool frames_apart;  // true if pixels that are frame in both were not compared
};

// Calls visit(pixel, near) for each pixel that was not compared, away from those that were. A JPEG's blocks and
// resizing carry the picture's edge into its frame. `near` is true for the first few pixels outside the other picture.
template <class Visit>
void beside(const Facing& f, const Visit& visit) {
  const double block = 16.0 * std::min(1.0, static_cast<double>(f.raster.width) / std::max(1, f.raster.full_width));
  const double reach = block + 1.5 * f.pitch + 3, reach_there = reach * f.warp.scale();
  constexpr double kRing = 3;
  constexpr int kBorder = 3;
  const auto outside = [](double x, double y, const PixelBox& box, double by) {
    return x < box.left - by || x >= box.right + by || y < box.top - by || y >= box.bottom + by;
  };
  const PixelBox all = {0, 0, f.other.width, f.other.height};
  for (int y = kBorder; y < f.raster.height - kBorder; ++y) {
    const std::uint8_t* const row =
        f.raster.rgb.data() + 3 * static_cast<std::size_t>(y) * static_cast<std::size_t>(f.raster.width);
    for (int x = kBorder; x < f.raster.width - kBorder; ++x) {
      const double u = f.warp.u(x, y), v = f.warp.v(x, y);
      const bool unseen = outside(u, v, all, reach_there);
      if (unseen || (f.frames_apart && outside(x, y, f.content, reach) && outside(u, v, f.other_content, reach_there)))
        visit(row + 3 * x, unseen && !outside(u, v, all, reach_there + kRing * f.warp.scale()));
    }
  }
}

// Returns the level below which a share of the counted pixels lies.
int level_at(const std::array<std::uint64_t, 256>& counts, std::uint64_t all, double share) {
  std::uint64_t sum = 0;
  int level = 0;
  while (level < 255 &&
         static_cast<double>(sum += counts[static_cast<std::size_t>(level)]) < share * static_cast<double>(all))
    ++level;
  return level;
}

// Finds strokes: pixels that stand out from the ground's own noise and outnumber its worst pixels. A ground with more
// noise than a JPEG's belongs to a picture, and is compared as such.
OverlayLocation strokes_on(const Facing& f) {
  constexpr int kFaintest = 4, kNoise = 3, kMaxNoise = 2;
  constexpr std::uint64_t kMinCount = 16, kOneIn = 5000, kOneInRing = 200;
  std::array<std::array<std::uint64_t, 256>, 3> levels{};
  std::uint64_t all = 0, ring = 0;
  beside(f, [&](const std::uint8_t* pixel, bool near) {
    ring += near ? 1 : 0;
    for (std::size_t c = 0; c < 3; ++c) ++levels[c][pixel[c]];
    ++all;
  });
  if (all < kMinCount) return OverlayLocation::nothing;
  std::array<int, 3> ground{};
  for (std::size_t c = 0; c < 3; ++c) ground[c] = level_at(levels[c], all, 0.5);
  std::array<std::uint64_t, 256> apart{}, apart_near{};
  beside(f, [&](const std::uint8_t* pixel, bool near) {
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(pixel[c] - ground[c]));
    ++apart[static_cast<std::size_t>(most)];
    if (near) ++apart_near[static_cast<std::size_t>(most)];
  });
  const int noise = level_at(apart, all, 0.8);
  if (noise > kMaxNoise) return OverlayLocation::nothing;
  const int usual = std::max(kFaintest, kNoise * noise);
  const auto beyond = [&](const std::array<std::uint64_t, 256>& counts) {
    std::uint64_t out = 0;
    for (int level = usual + 1; level < 256; ++level) out += counts[static_cast<std::size_t>(level)];
    return out;
  };
  if (beyond(apart) < std::max(kMinCount, all / kOneIn)) return OverlayLocation::nothing;
  return beyond(apart_near) * kOneInRing <= ring ? OverlayLocation::frame : OverlayLocation::picture;
}

}  // namespace

OverlayLocation find_overlay_on_target(const FramePair& frames, const Size& of, const Size& of_source,
                                       const PictureRaster& target, const PictureRaster& source, const Affine& warp) {
  if (!frames.drawn_target) return OverlayLocation::nothing;
  return strokes_on({target, scaled(frames.target, of, target), source, scaled(frames.source, of_source, source), warp,
                     static_cast<double>(target.width) / of.width, frames.any});
}

std::int64_t mark_valid(const Affine& warp, const FramePair& frames, const Plane& source, Plane& valid) {
  std::int64_t count = 0;
  for (int y = 0; y < valid.height(); ++y) {
    float* const out = valid.row(y);
    const PixelSpan in = inside_row(warp, y, valid.width(), source.width(), source.height(), 0.5);
    if (!frames.any) {
      std::fill_n(out, valid.width(), 0.0F);
      std::fill(out + in.begin, out + in.end, 1.0F);
      count += in.end - in.begin;
      continue;
    }
    for (int x = 0; x < valid.width(); ++x) {
      const bool seen =
          x >= in.begin && x < in.end && !(frames.in_target(x, y) && frames.in_source(warp.u(x, y), warp.v(x, y)));
      out[x] = seen ? 1.0F : 0.0F;
      count += seen ? 1 : 0;
    }
  }
  return count;
}

std::int64_t erode(const Plane& from, Plane& scratch, Plane& to) {
  constexpr int kReach = 3;
  const int w = from.width(), h = from.height();
  scratch.size(w, h);
  to.size(w, h);
  for (int y = 0; y < h; ++y) {
    const float* in = from.row(y);
    float* const out = scratch.row(y);
    if (std::all_of(in, in + w, [](float v) { return v > 0; })) {
      std::copy_n(in, w, out);
      continue;
    }
    for (int x = 0; x < w; ++x) {
      float least = 1;
      for (int i = std::max(0, x - kReach); i <= std::min(w - 1, x + kReach); ++i) least = std::min(least, in[i]);
      out[x] = least;
    }
  }
  std::int64_t count = 0;
  for (int y = 0; y < h; ++y) {
    float* const out = to.row(y);
    std::copy_n(scratch.row(y), w, out);
    for (int j = std::max(0, y - kReach); j <= std::min(h - 1, y + kReach); ++j) {
      const float* in = scratch.row(j);
      for (int x = 0; x < w; ++x) out[x] = std::min(out[x], in[x]);
    }
    out[0] = out[w - 1] = 0;
    if (y == 0 || y == h - 1) std::fill_n(out, w, 0.0F);
    for (int x = 0; x < w; ++x) count += out[x] > 0 ? 1 : 0;
  }
  return count;
}

}  // namespace millrace::detailed_check
