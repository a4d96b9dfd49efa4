#include "src/kernels/detailed_check/detailed_check.h"

#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_pair.h"
#include "src/kernels/detailed_check/detailed_check_seam.h"

namespace millrace::detailed_check {
namespace {

constexpr int kCoarseSide = 256;

double side_scale(int width, int height, int side) {
  return std::min(1.0, static_cast<double>(side) / std::max(width, height));
}

// Converts a box of the target into shares of the sides of the picture that a warp maps it to.
std::array<float, 4> shares_of(const std::array<int, 4>& box, const Affine& warp, const Size& of) {
  std::array<float, 4> out = {1, 1, 0, 0};
  for (const int x : {box[0], box[2]}) {
    for (const int y : {box[1], box[3]}) {
      const auto u = static_cast<float>(std::clamp((warp.u(x - 0.5, y - 0.5) + 0.5) / of.width, 0.0, 1.0));
      const auto v = static_cast<float>(std::clamp((warp.v(x - 0.5, y - 0.5) + 0.5) / of.height, 0.0, 1.0));
      out = {std::min(out[0], u), std::min(out[1], v), std::max(out[2], u), std::max(out[3], v)};
    }
  }
  return out;
}

// Change of exposure. `tone` is the rms change of the source's levels by the curve, `gain` the factor that fits the
// curve best. `rest` is the share of the change that the gain leaves.
struct Exposure {
  double tone = 0, gain = 1, rest = 0;
};
// Residual of a pair that was registered by a warp.
struct Fitted {
  Affine warp;
  Tone tone;
  Residual measured;
  Exposure exposure;

  float excess() const { return std::max(measured.excess, measured.drift_ratio()); }
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

// Converts a map between pixels, whose middles are at whole numbers, of pictures of these sides into a map between
// shares of the sides.
std::array<float, 6> in_shares(const Affine& warp, const Size& from, const Size& to) {
  const auto at = [&](double x, double y) {
    const double px = (x + 0.5) * from.width - 0.5, py = (y + 0.5) * from.height - 0.5;
    return std::pair((warp.u(px, py) + 0.5) / to.width - 0.5, (warp.v(px, py) + 0.5) / to.height - 0.5);
  };
  const auto middle = at(0, 0), right = at(1, 0), down = at(0, 1);
  const auto apart = [](double a, double b) { return static_cast<float>(a - b); };
  return {static_cast<float>(middle.first),  apart(right.first, middle.first),   apart(down.first, middle.first),
          static_cast<float>(middle.second), apart(right.second, middle.second), apart(down.second, middle.second)};
}

}  // namespace

const char* name_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::same:
      return "same";
    case DifferenceKind::altered:
      return "altered";
    case DifferenceKind::framed:
      return "framed";
    case DifferenceKind::toned:
      return "toned";
    case DifferenceKind::different:
      break;
  }
  return "different";
}

struct PreparedPicture::Planes {
  PictureRaster raster;
  Colour fit, small;  // reduced to long sides of 512 and 256
};

PreparedPicture::PreparedPicture(PictureRaster raster) : planes_(std::make_unique<Planes>()) {
  Planes& p = *planes_;
  p.raster = std::move(raster);
  if (std::min(p.raster.width, p.raster.height) <= 0) return;
  shrink(p.raster, side_scale(p.raster.width, p.raster.height, kSide), p.fit);
  shrink(p.fit, side_scale(p.fit[0].width(), p.fit[0].height(), kCoarseSide), p.small);
}
PreparedPicture::~PreparedPicture() = default;
PreparedPicture::PreparedPicture(PreparedPicture&& other) noexcept = default;
PreparedPicture& PreparedPicture::operator=(PreparedPicture&& other) noexcept = default;
const PictureRaster& PreparedPicture::raster() const { return planes_->raster; }
PreparedPicture PreparedPicture::turned(Orientation orientation) const {
  PictureRaster out = raster();
  out.rgb = oriented(out.rgb.data(), out.width, out.height, 3, orientation);
  if (swaps_sides(orientation)) {
    std::swap(out.width, out.height);
    std::swap(out.full_width, out.full_height);
  }
  return PreparedPicture(std::move(out));
}

bool PreparedPicture::is_drawing() const { return detailed_check::is_drawing(planes_->fit); }

struct DetailedComparator::State {
  PairComparison pair;
};

DetailedComparator::DetailedComparator() : state_(std::make_unique<State>()) {}
DetailedComparator::~DetailedComparator() = default;

Verdict DetailedComparator::compare(const PreparedPicture& first, const PreparedPicture& second,
                                    const std::optional<std::array<float, 6>>& start) {
  PairComparison& p = state_->pair;
  Verdict out;
  constexpr int kMinSide = 16;
  const PreparedPicture::Planes *a = &first.planes(), *b = &second.planes();
  if (std::min({a->raster.width, a->raster.height, b->raster.width, b->raster.height}) < kMinSide) return out;
  auto coarse = p.register_coarsely(a->small, b->small, start);
  if (!coarse) return out;

  const auto scale_of = [&](int width_a, int height_a, int width_b, int height_b) {
    return between(*coarse, size_of(a->small), size_of(b->small), {width_a, height_a}, {width_b, height_b}).scale();
  };
  out.scale = static_cast<float>(
      scale_of(a->raster.full_width, a->raster.full_height, b->raster.full_width, b->raster.full_height));
  // The target is the picture whose raster has fewer pixels for the same content, so that no detail is expected between
  // pixels.
  const bool swapped = scale_of(a->raster.width, a->raster.height, b->raster.width, b->raster.height) < 1;
  if (swapped) {
    std::swap(a, b);
    coarse = coarse->inverse();
  }
  p.target = a->fit;
  const Affine to_whole = between(*coarse, size_of(a->small), size_of(b->small), size_of(p.target), size_of(b->raster));
  const double pitch = std::min(1.0, 1 / to_whole.scale());
  // Most pairs show the same extent: the source at the target's pitch then exists already.
  if (shrink_side(b->raster.width, pitch) == b->fit[0].width() &&
      shrink_side(b->raster.height, pitch) == b->fit[0].height()) {
    p.source = b->fit;
  } else {
    shrink(b->raster, pitch, p.source);
  }
  Affine warp = between(*coarse, size_of(a->small), size_of(b->small), size_of(p.target), size_of(p.source));

  p.shrink_both();
  if (std::max(p.target[0].width(), p.target[0].height()) > 300) warp = p.register_at_half(warp);
  const FramePair frames(p.target, p.source, warp);
  const auto tone = p.find_tone(warp, frames);
  if (!tone) return out;
  const bool finest = std::max(a->raster.width, a->raster.height) <= kSide;  // true if no finer comparison follows
  const auto fit_at = [&](const Affine& at) -> std::optional<Fitted> {
    // A tone that was found at half the size does not change with shifts of less than this.
    constexpr double kMoved = 0.25;
    const bool elsewhere = max_corner_distance(warp, at, p.target[0].width(), p.target[0].height()) > kMoved;
    const auto tone_there = elsewhere ? p.find_tone(at, frames) : tone;
    const bool quiet = p.is_quiet(at);
    if (!tone_there || p.move_source(at, frames) < kMinPixels) return std::nullopt;
    auto measured = p.measure(*tone_there, quiet);
    if (!measured) return std::nullopt;
    if (finest) measured->doubt_strokes(pitch);
    luma_of(p.moved, p.scratch);
    return Fitted{at, *tone_there, std::move(*measured), exposure_of(*tone_there, p.scratch, p.inner)};
  };
  auto found = fit_at(p.register_toned(warp, *tone));
  if (!found) return out;
  // Most copies show the whole of the other picture. Beside sharpened strokes the map of whole to whole is better than
  // registration; this second try has to be plain.
  constexpr double kNear = 1.5;
  constexpr float kHopeless = 4, kPlainly = 0.9F;
  const Affine onto = map_whole_raster(size_of(p.target), size_of(p.source));
  if (found->excess() > 1 && found->excess() <= kHopeless &&
      max_corner_distance(found->warp, onto, p.target[0].width(), p.target[0].height()) <= kNear) {
    auto again = fit_at(onto);
    if (again && again->excess() <= kPlainly) found = std::move(again);
  }
  warp = found->warp;
  const Residual& measured = found->measured;
  const Exposure& exposure = found->exposure;

  const double alone_a =
      share_outside(warp, p.target[0], p.source[0], [&](int x, int y) { return frames.is_plain_in_target(x, y); });
  const double alone_b = share_outside(warp.inverse(), p.source[0], p.target[0],
                                       [&](int x, int y) { return frames.is_plain_in_source(x, y); });
  const Size fitted = size_of(p.target), fitted_source = size_of(p.source);  // copied, because the comparison of tiles
                                                                             // overwrites both
  const ResidualFigures& figures = measured.figures;
  out.soft = figures.soft;
  out.plain = figures.plain;
  out.chroma = figures.chroma;
  out.shift = figures.shift;
  out.drift = figures.drift;
  out.spread = figures.spread;
  out.correlation = static_cast<float>(measured.correlation);
  out.tone = static_cast<float>(exposure.tone);
  out.gain = static_cast<float>(exposure.gain);
  out.sharpness = static_cast<float>(measured.sharpness);
  out.first_outside = static_cast<float>(swapped ? alone_b : alone_a);
  out.second_outside = static_cast<float>(swapped ? alone_a : alone_b);
  const auto place = [&](const std::array<int, 4>& box, const Affine& at, const Size& target, const Size& source) {
    const std::array<float, 4> in_target = shares_of(box, Affine(), target), in_source = shares_of(box, at, source);
    out.first_place = swapped ? in_source : in_target;
    out.second_place = swapped ? in_target : in_source;
  };

  constexpr std::size_t kMinWindows = 150;
  constexpr float kSpread = 0.25F, kAlike = 0.5F, kCorrelated = 0.93F, kAlone = 0.004F, kAloneFramed = 0.015F;
  constexpr double kGain = 1.14, kOnlyGain = 0.4, kTone = 33;
  out.excess = found->excess();
  out.meeting =
      in_shares(swapped ? warp.inverse() : warp, swapped ? fitted_source : fitted, swapped ? fitted : fitted_source);
  if (figures.windows < kMinWindows) return out;
  // Another view of the scene: everything has moved a little, depending on its distance.
  if (out.excess > 1 && measured.excess <= 1) return out;
  if (out.excess > 1) {
    if (out.spread >= kSpread || out.correlation <= kAlike) return out;
    out.kind = DifferenceKind::altered;
    place(find_worst_place(figures.excess), warp, fitted, fitted_source);
    return out;
  }
  if (out.correlation < kCorrelated) return out;
  // A frame's inner edge mixes frame and picture, and is no content.
  const auto more = [&](double alone, bool framed) {
    return alone > static_cast<double>(framed ? kAloneFramed : kAlone);
  };
  const bool more_target = more(alone_a, frames.drawn_target), more_source = more(alone_b, frames.drawn_source);
  const auto contained = [&](bool target, bool source) {
    if (target && source) return Containment::neither;
    return target || source ? (source == swapped ? Containment::second : Containment::first) : Containment::both;
  };
  if (more_target && more_source) {
    out.kind = DifferenceKind::framed;
  } else if (exposure.tone > kTone ||
             ((exposure.gain > kGain || exposure.gain < 1 / kGain) && exposure.rest < kOnlyGain)) {
    out.kind = DifferenceKind::toned;
  } else {
    out.kind = DifferenceKind::same;
    out.contained = contained(more_target, more_source);
  }
  // Pictures that are the same at this size may differ in finer strokes.
  if (out.kind == DifferenceKind::same && std::max(a->raster.width, a->raster.height) > kSide) {
    const Affine at = between(warp, fitted, fitted_source, size_of(a->raster), size_of(b->raster));
    const PixelBox region = frames.any ? frames.shared(warp, fitted, size_of(a->raster)) : whole(size_of(a->raster));
    const TileComparison tiles = compare_tiles(p, a->raster, b->raster, at, found->tone, region);
    const auto differs = [&](const std::array<int, 4>& box) {
      out.kind = DifferenceKind::altered;
      out.contained = Containment::neither;
      place(box, at, size_of(a->raster), size_of(b->raster));
    };
    if (tiles.worst && tiles.worst->measured.excess > 1) {
      out.excess = tiles.worst->measured.excess;
      differs(tiles.worst->place);
    } else if (tiles.has_no_common_detail) {
      out.kind = DifferenceKind::different;
      out.contained = Containment::neither;
      return out;
    } else if (const auto& box = tiles.focus.differs) {
      differs({box->left, box->top, box->right, box->bottom});
    } else {
      out.first_sharper = swapped ? tiles.focus.second_sharper : tiles.focus.first_sharper;
      out.second_sharper = swapped ? tiles.focus.first_sharper : tiles.focus.second_sharper;
    }
  }
  // A picture that seems to show no more than the other may have a line of text on its frame, or at a page's edge.
  if (out.kind == DifferenceKind::same) {
    const Affine at = between(warp, fitted, fitted_source, size_of(a->raster), size_of(b->raster));
    const OverlayLocation target =
        more_target ? OverlayLocation::nothing
                    : find_overlay_on_target(frames, fitted, fitted_source, a->raster, b->raster, at);
    const OverlayLocation source = more_source ? OverlayLocation::nothing
                                               : find_overlay_on_target(frames.swapped(), fitted_source, fitted,
                                                                        b->raster, a->raster, at.inverse());
    out.contained =
        contained(more_target || target == OverlayLocation::picture, more_source || source == OverlayLocation::picture);
    if (target == OverlayLocation::frame || source == OverlayLocation::frame) out.contained = Containment::neither;
    // A screen, or a blurred picture around the other, shows all of it and is still no copy to keep in its place.
    const bool target_is_part = out.contained == (swapped ? Containment::second : Containment::first);
    const bool source_is_part = out.contained == (swapped ? Containment::first : Containment::second);
    if ((target_is_part && !continues_around(b->raster, size_of(a->raster), at)) ||
        (source_is_part && !continues_around(a->raster, size_of(b->raster), at.inverse())))
      out.contained = Containment::neither;
    if (out.contained == Containment::neither) out.kind = DifferenceKind::framed;
  }
  if (out.kind == DifferenceKind::same && out.contained == Containment::both) {
    out.first_framed = swapped ? frames.put_around_source : frames.put_around_target;
    out.second_framed = swapped ? frames.put_around_target : frames.put_around_source;
  }
  const bool all_of_a = a->raster.width == a->raster.full_width && a->raster.height == a->raster.full_height;
  if (out.kind == DifferenceKind::same && out.contained == Containment::both && all_of_a) {
    const Affine to_many = between(warp, fitted, fitted_source, size_of(a->raster), size_of(b->raster));
    out.enlarged = p.is_enlarged(a->raster, b->raster, to_many.inverse());
  }
  return out;
}

}  // namespace millrace::detailed_check
