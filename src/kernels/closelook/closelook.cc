#include "src/kernels/closelook/closelook.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_windows.h"

namespace millrace::closelook {
namespace {

constexpr int kCoarseSide = 256;
constexpr std::int64_t kFewestPixels = 400;

Affine box_to_box(const Box& from, const Box& to) {
  const double sx = static_cast<double>(to.right - to.left) / (from.right - from.left);
  const double sy = static_cast<double>(to.bottom - to.top) / (from.bottom - from.top);
  Affine out;
  out.m = {sx, 0, to.left - 0.5 - (from.left - 0.5) * sx, 0, sy, to.top - 0.5 - (from.top - 0.5) * sy};
  return out;
}

Box whole(const Plane& plane) { return {0, 0, plane.width(), plane.height()}; }

// As it is between rasters of these sizes.
Affine between(const Affine& warp, const Plane& from, const Plane& to, const Plane& new_from, const Plane& new_to) {
  return warp.rescaled(
      static_cast<double>(new_from.width()) / from.width(), static_cast<double>(new_from.height()) / from.height(),
      static_cast<double>(new_to.width()) / to.width(), static_cast<double>(new_to.height()) / to.height());
}

Affine in_pixels(const std::array<float, 6>& m, const Plane& from, const Plane& to) {
  std::array<double, 6> d;
  for (std::size_t i = 0; i < 6; ++i) d[i] = static_cast<double>(m[i]);
  const double w = from.width(), h = from.height(), sw = to.width(), sh = to.height();
  // From pixels to shares of a side and back.
  Affine out;
  out.m = {d[1] * sw / w, d[2] * sw / h, 0, d[4] * sh / w, d[5] * sh / h, 0};
  out.m[2] = (d[0] + d[1] * (0.5 / w - 0.5) + d[2] * (0.5 / h - 0.5) + 0.5) * sw - 0.5;
  out.m[5] = (d[3] + d[4] * (0.5 / w - 0.5) + d[5] * (0.5 / h - 0.5) + 0.5) * sh - 0.5;
  return out;
}

double side_scale(const Plane& plane, int side) {
  return std::min(1.0, static_cast<double>(side) / std::max(plane.width(), plane.height()));
}

// The colour of a frame: the median of each channel outside the box.
std::array<float, 3> colour_outside(const Colour& picture, const Box& box) {
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

// Nine in ten pixels of what lies outside the box are within two levels of its colour, on two sides that face each
// other. Sky is not, and a black ground beside a thing is on one.
bool is_drawn(const Colour& picture, const Box& box) {
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

// What is frame in each, where the frames are not one and the same.
struct Frames {
  Box target, source;
  bool drawn_target, drawn_source;  // of one colour, as no camera makes it
  bool any = false;

  Frames(const Colour& t, const Colour& s, const Affine& warp)
      : target(content_box(t)),
        source(content_box(s)),
        drawn_target(is_drawn(t, target)),
        drawn_source(is_drawn(s, source)) {
    const bool framed_t = !(target == whole(t[0])), framed_s = !(source == whole(s[0]));
    any = framed_t || framed_s;
    if (!any) return;
    constexpr double kNear = 4;
    const Affine back = warp.inverse();
    const auto far = [&](int x, int y, int left, int top) {
      const double u = back.u(x - 0.5, y - 0.5) + 0.5, v = back.v(x - 0.5, y - 0.5) + 0.5;
      return std::max(std::fabs(u - left), std::fabs(v - top));
    };
    bool one = far(source.left, source.top, target.left, target.top) < kNear &&
               far(source.right, source.bottom, target.right, target.bottom) < kNear;
    if (!one && framed_t && framed_s) {
      const auto a = colour_outside(t, target), b = colour_outside(s, source);
      float most = 0;
      for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::fabs(a[c] - b[c]));
      one = most <= 25;
    }
    if (one) any = false;
  }
  // Of each by itself, whether the other has the same or not.
  Frames halved() const {
    Frames out = *this;
    for (Box* box : {&out.target, &out.source})
      *box = {box->left / 2, box->top / 2, (box->right + 1) / 2, (box->bottom + 1) / 2};
    return out;
  }
  bool plain_in_target(int x, int y) const {
    return drawn_target && (x < target.left || x >= target.right || y < target.top || y >= target.bottom);
  }
  bool plain_in_source(int x, int y) const {
    return drawn_source && (x < source.left || x >= source.right || y < source.top || y >= source.bottom);
  }
  bool in_target(int x, int y) const {
    return any && (x < target.left || x >= target.right || y < target.top || y >= target.bottom);
  }
  bool in_source(double u, double v) const {
    return any &&
           (u < source.left - 0.5 || u >= source.right - 0.5 || v < source.top - 0.5 || v >= source.bottom - 0.5);
  }
};

// 1 where both are seen and not both are frame.
std::int64_t mark_valid(const Affine& warp, const Frames& frames, const Plane& source, Plane& valid) {
  std::int64_t count = 0;
  for (int y = 0; y < valid.height(); ++y) {
    float* const out = valid.row(y);
    const Span1 in = inside_row(warp, y, valid.width(), source.width(), source.height(), 0.5);
    for (int x = 0; x < valid.width(); ++x) {
      const bool seen =
          x >= in.begin && x < in.end && !(frames.in_target(x, y) && frames.in_source(warp.u(x, y), warp.v(x, y)));
      out[x] = seen ? 1.0F : 0.0F;
      count += seen ? 1 : 0;
    }
  }
  return count;
}

// Away from the edges of what is valid, and from the target's own.
std::int64_t erode(const Plane& from, Plane& scratch, Plane& to) {
  constexpr int kReach = 3;
  const int w = from.width(), h = from.height();
  scratch.size(w, h);
  to.size(w, h);
  for (int y = 0; y < h; ++y) {
    const float* in = from.row(y);
    float* const out = scratch.row(y);
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

// The share of `of` that lies outside `other` and is no frame.
template <class InFrame>
double share_alone(const Affine& warp, const Plane& of, const Plane& other, const InFrame& in_frame) {
  std::int64_t count = 0;
  for (int y = 0; y < of.height(); ++y) {
    const Span1 in = inside_row(warp, y, of.width(), other.width(), other.height(), 0.5);
    for (int x = 0; x < of.width(); ++x) {
      if ((x < in.begin || x >= in.end) && !in_frame(x, y)) ++count;
    }
  }
  return static_cast<double>(count) / (static_cast<double>(of.width()) * of.height());
}

double correlation_of(const Plane& a, const Plane& b, const Plane& valid) {
  double n = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (int y = 0; y < a.height(); ++y) {
    const float *p = a.row(y), *q = b.row(y), *in = valid.row(y);
    for (int x = 0; x < a.width(); ++x) {
      if (in[x] == 0) continue;
      const double u = static_cast<double>(p[x]), v = static_cast<double>(q[x]);
      n += 1;
      sa += u;
      sb += v;
      saa += u * u;
      sbb += v * v;
      sab += u * v;
    }
  }
  if (n == 0) return 0;
  const double va = saa / n - sa / n * (sa / n), vb = sbb / n - sb / n * (sb / n);
  if (va < 0.01 || vb < 0.01) return 0;
  return (sab / n - sa / n * (sb / n)) / std::sqrt(va * vb);
}

// A box of the target, in shares of the sides of what a warp takes it to.
std::array<float, 4> shares_of(const std::array<int, 4>& box, const Affine& warp, const Plane& of) {
  std::array<float, 4> out = {1, 1, 0, 0};
  for (const int x : {box[0], box[2]}) {
    for (const int y : {box[1], box[3]}) {
      const auto u = static_cast<float>(std::clamp((warp.u(x - 0.5, y - 0.5) + 0.5) / of.width(), 0.0, 1.0));
      const auto v = static_cast<float>(std::clamp((warp.v(x - 0.5, y - 0.5) + 0.5) / of.height(), 0.0, 1.0));
      out = {std::min(out[0], u), std::min(out[1], v), std::max(out[2], u), std::max(out[3], v)};
    }
  }
  return out;
}

// How far the curve moves the source's levels, rms; and whether it is little but a gain.
struct Exposure {
  double tone = 0, gain = 1, rest = 0;
};
Exposure exposure_of(const Tone& tone, const Plane& source_luma, const Plane& valid) {
  std::array<double, 256> histogram{};
  double count = 0;
  for (int y = 0; y < valid.height(); ++y) {
    for (int x = 0; x < valid.width(); ++x) {
      if (valid.row(y)[x] == 0) continue;
      histogram[static_cast<std::size_t>(std::clamp(source_luma.row(y)[x], 0.0F, 255.0F))] += 1;
      count += 1;
    }
  }
  Exposure out;
  for (std::size_t v = 0; v < 256; ++v) {
    const double move = static_cast<double>(tone.at(static_cast<float>(v))) - static_cast<double>(v);
    out.tone += histogram[v] / count * move * move;
  }
  out.tone = std::sqrt(out.tone);
  double xy = 0, xx = 0, n = 0;
  const auto each = [&](const auto& use) {
    for (int k = 1; k < 16; ++k) {
      const double v = 16 * k, f = static_cast<double>(tone.at(static_cast<float>(v)));
      if (f > 2 && f < 250) use(v, f);
    }
  };
  each([&](double v, double f) {
    xy += v * f;
    xx += v * v;
    n += 1;
  });
  if (n < 4) {
    out.rest = 1;
    return out;
  }
  out.gain = xy / xx;
  double left = 0, moved = 0;
  each([&](double v, double f) {
    left += (f - out.gain * v) * (f - out.gain * v);
    moved += (f - v) * (f - v);
  });
  out.rest = std::sqrt(left / n) / (std::sqrt(moved / n) + 1e-6);
  return out;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::same:
      return "same";
    case Kind::altered:
      return "altered";
    case Kind::framed:
      return "framed";
    case Kind::toned:
      return "toned";
    case Kind::different:
      break;
  }
  return "different";
}

struct Looker::State {
  FitScratch fitting;
  SharpScratch sharpening;
  WindowScratch windows;
  Maps maps;
  Sharpness sharp;
  Colour target, source, soft_target, soft_source, moved, toned;
  Colour small_target, small_source;
  Plane luma_a, luma_b, soft_a, soft_b, half_a, half_b, valid, inner, scratch;

  // The best of several starts at a quarter, then at the coarse side.
  std::optional<Affine> register_coarsely(const Colour& a, const Colour& b,
                                          const std::optional<std::array<float, 6>>& start) {
    luma_of(a, luma_a);
    luma_of(b, luma_b);
    const Box all_a = whole(luma_a), all_b = whole(luma_b), box_a = content_box(a), box_b = content_box(b);
    std::vector<Affine> starts = {box_to_box(all_a, all_b)};
    if (!(box_a == all_a) || !(box_b == all_b)) {
      starts.push_back(box_to_box(box_a, box_b));
      starts.push_back(box_to_box(all_a, box_b));
      starts.push_back(box_to_box(box_a, all_b));
    }
    if (start) starts.push_back(in_pixels(*start, luma_a, luma_b));
    Plane small_a, small_b;
    const double quarter = std::max(luma_a.width(), luma_a.height()) >= 200 ? 0.25 : 0.5;
    shrink(luma_a, quarter, small_a);
    shrink(luma_b, quarter, small_b);
    blur(small_a, 1, soft_a);
    blur(small_b, 1, soft_b);
    std::optional<Affine> best;
    double least = 0;
    for (const Affine& from : starts) {
      const Affine at = between(from, luma_a, luma_b, small_a, small_b);
      if (!(at.scale() > 0.2 && at.scale() < 5)) continue;
      const Fit fit = register_luma(soft_a, soft_b, at, 8, fitting);
      if (fit.overlap < 0.15) continue;
      // Little in common fits more easily.
      const double misfit = fit.misfit / std::sqrt(std::sqrt(fit.overlap));
      if (best && misfit >= least) continue;
      best = fit.warp;
      least = misfit;
    }
    if (!best) return best;
    blur(luma_a, 1.2, soft_a);
    blur(luma_b, 1.2, soft_b);
    return register_luma(soft_a, soft_b, between(*best, small_a, small_b, luma_a, luma_b), 6, fitting).warp;
  }

  Affine register_at_half(const Affine& warp) {
    shrink(luma_a, 0.5, half_a);
    shrink(luma_b, 0.5, half_b);
    blur(half_a, 1, soft_a);
    blur(half_b, 1, soft_b);
    const Fit fit = register_luma(soft_a, soft_b, between(warp, luma_a, luma_b, half_a, half_b), 5, fitting);
    return between(fit.warp, half_a, half_b, luma_a, luma_b);
  }

  // The source on the target's raster in `moved`, and the tone that brings it to the target's. Nothing where they
  // hardly meet.
  std::optional<Tone> find_tone(const Affine& warp, const Frames& frames) {
    for (Plane& plane : moved) plane.size(target[0].width(), target[0].height());
    warp_cubic(source, warp, moved);
    return tone_of(target, source[0], warp, frames, 2);
  }

  // The same for registration alone: at half the size, in straight lines between pixels.
  std::optional<Tone> guess_tone(const Affine& warp, const Frames& frames) {
    shrink(target, 0.5, small_target);
    shrink(source, 0.5, small_source);
    const Affine half = between(warp, target[0], source[0], small_target[0], small_source[0]);
    for (std::size_t c = 0; c < 3; ++c) {
      moved[c].size(small_target[0].width(), small_target[0].height());
      warp_linear(small_source[c], half, moved[c]);
    }
    return tone_of(small_target, small_source[0], half, frames.halved(), 1);
  }

 private:
  std::optional<Tone> tone_of(const Colour& to, const Plane& from, const Affine& warp, const Frames& frames,
                              double sigma) {
    valid.size(to[0].width(), to[0].height());
    if (mark_valid(warp, frames, from, valid) < kFewestPixels) return std::nullopt;
    for (std::size_t c = 0; c < 3; ++c) {
      blur(to[c], sigma, soft_target[c]);
      blur(moved[c], sigma, soft_source[c]);
    }
    return fit_tone(soft_source, soft_target, valid);
  }
};

Looker::Looker() : state_(std::make_unique<State>()) {}
Looker::~Looker() = default;

Verdict Looker::compare(const Raster& first, const Raster& second, const std::optional<std::array<float, 6>>& start) {
  State& s = *state_;
  Verdict out;
  constexpr int kLeast = 16;
  if (std::min({first.width, first.height, second.width, second.height}) < kLeast) return out;
  Colour whole_a = planes_of(first), whole_b = planes_of(second);
  Colour small_a, small_b;
  shrink(whole_a, side_scale(whole_a[0], kCoarseSide), small_a);
  shrink(whole_b, side_scale(whole_b[0], kCoarseSide), small_b);
  auto coarse = s.register_coarsely(small_a, small_b, start);
  if (!coarse) return out;

  // The target is the one with fewer pixels for the same content.
  const Affine full = coarse->rescaled(static_cast<double>(first.full_width) / small_a[0].width(),
                                       static_cast<double>(first.full_height) / small_a[0].height(),
                                       static_cast<double>(second.full_width) / small_b[0].width(),
                                       static_cast<double>(second.full_height) / small_b[0].height());
  out.scale = static_cast<float>(full.scale());
  const bool swapped = full.scale() < 1;
  if (swapped) {
    std::swap(whole_a, whole_b);
    std::swap(small_a, small_b);
    coarse = coarse->inverse();
  }
  shrink(whole_a, side_scale(whole_a[0], kSide), s.target);
  const Affine to_whole = between(*coarse, small_a[0], small_b[0], s.target[0], whole_b[0]);
  shrink(whole_b, std::min(1.0, 1 / to_whole.scale()), s.source);
  Affine warp = between(to_whole, s.target[0], whole_b[0], s.target[0], s.source[0]);

  luma_of(s.target, s.luma_a);
  luma_of(s.source, s.luma_b);
  if (std::max(s.luma_a.width(), s.luma_a.height()) > 300) warp = s.register_at_half(warp);
  const Frames frames(s.target, s.source, warp);
  auto tone = s.guess_tone(warp, frames);
  if (!tone) return out;
  // Once more, with the tones made equal.
  apply_tone(*tone, s.source, s.toned);
  luma_of(s.toned, s.luma_b);
  blur(s.luma_a, 0.8, s.soft_a);
  blur(s.luma_b, 0.8, s.soft_b);
  warp = register_luma(s.soft_a, s.soft_b, warp, 3, s.fitting).warp;
  tone = s.find_tone(warp, frames);
  if (!tone) return out;
  apply_tone(*tone, s.moved, s.toned);
  luma_of(s.toned, s.luma_b);
  if (erode(s.valid, s.scratch, s.inner) < kFewestPixels) return out;

  fit_sharpness(s.luma_b, s.luma_a, s.inner, s.sharpening, s.sharp);
  measure_windows(s.sharp, s.toned, s.target, s.inner, s.windows, s.maps);
  const auto figures = figures_of(s.maps);
  if (!figures) return out;

  const double alone_a =
      share_alone(warp, s.target[0], s.source[0], [&](int x, int y) { return frames.plain_in_target(x, y); });
  const double alone_b =
      share_alone(warp.inverse(), s.source[0], s.target[0], [&](int x, int y) { return frames.plain_in_source(x, y); });
  luma_of(s.moved, s.scratch);
  const Exposure exposure = exposure_of(*tone, s.scratch, s.inner);
  out.soft = figures->soft;
  out.plain = figures->plain;
  out.chroma = figures->chroma;
  out.shift = figures->shift;
  out.drift = figures->drift;
  out.spread = figures->spread;
  out.correlation = static_cast<float>(correlation_of(s.sharp.fitted, s.sharp.other, s.inner));
  out.tone = static_cast<float>(exposure.tone);
  out.gain = static_cast<float>(exposure.gain);
  out.sharpness = static_cast<float>(s.sharp.deviation());
  out.first_alone = static_cast<float>(swapped ? alone_b : alone_a);
  out.second_alone = static_cast<float>(swapped ? alone_a : alone_b);

  constexpr std::size_t kFewestWindows = 150;
  constexpr float kClean = 0.9F, kSoftFiltered = 3.8F, kShiftFiltered = 3.3F;
  // True copies drift by 0.12 at most, those that are not clean by 0.29; views from a hand's breadth apart by 0.2 and
  // more, and by 0.34 where that is taken for a filter.
  constexpr float kDrift = 0.16F, kDriftFiltered = 0.32F;
  constexpr float kSpread = 0.25F, kAlike = 0.5F, kCorrelated = 0.93F, kAlone = 0.015F;
  constexpr double kGain = 1.14, kOnlyGain = 0.4, kTone = 33;
  const bool clean = out.sharpness < kClean;
  out.excess = std::max({out.soft / (clean ? Figures::kSoft : kSoftFiltered), out.plain / Figures::kPlain,
                         out.chroma / Figures::kChroma, out.shift / (clean ? Figures::kShift : kShiftFiltered)});
  const float moved = out.drift / (clean ? kDrift : kDriftFiltered);
  const bool nothing_else = out.excess <= 1;
  out.excess = std::max(out.excess, moved);
  if (figures->windows < kFewestWindows) return out;
  // Another view of the scene: everything has moved a little, each by its distance.
  if (moved > 1 && nothing_else) return out;
  if (out.excess > 1) {
    if (out.spread >= kSpread || out.correlation <= kAlike) return out;
    out.kind = Kind::altered;
    const std::array<int, 4> box = place_of(figures->excess);
    const std::array<float, 4> in_target = shares_of(box, Affine(), s.target[0]);
    const std::array<float, 4> in_source = shares_of(box, warp, s.source[0]);
    out.first_place = swapped ? in_source : in_target;
    out.second_place = swapped ? in_target : in_source;
    return out;
  }
  if (out.correlation < kCorrelated) return out;
  const bool more_a = out.first_alone > kAlone, more_b = out.second_alone > kAlone;
  if (more_a && more_b) {
    out.kind = Kind::framed;
  } else if ((exposure.gain > kGain || exposure.gain < 1 / kGain) && exposure.rest < kOnlyGain) {
    out.kind = Kind::toned;
  } else if (exposure.tone > kTone) {
    out.kind = Kind::toned;
  } else {
    out.kind = Kind::same;
    out.contained = more_a ? Contained::second : more_b ? Contained::first : Contained::both;
  }
  return out;
}

}  // namespace millrace::closelook
