#include "src/kernels/detailed_check/detailed_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "src/kernels/detailed_check/detailed_check_pair.h"
#include "src/kernels/detailed_check/detailed_check_seam.h"

namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.
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
// Two pictures after the coarse registration.
struct Alignment {
  const PreparedPicture::Planes *target, *source;  // the target has fewer pixels for the same content
  bool swapped;                                    // true if the target is the second picture
  double scale;                                    // pixels of the second picture to one of the first, along a side
  double pitch;                                    // reduction of the source's raster to the target's pitch
  Affine warp;                                     // from the target to the source, as reduced
};
// Residual of two pictures under one registration.
struct PairFit {
  Affine warp;
  Tone tone;
  Residual residual;
  Exposure exposure;

  float excess() const { return std::max(residual.excess, residual.drift_ratio()); }
};
// Measurements of a pair at a long side of 512. The comparison of tiles overwrites the rasters, so their sizes
// are kept here.
struct Registered {
  PairFit fit;
  FramePair frames;
  Size target_size, source_size;
  double target_outside = 0, source_outside = 0;  // share of each that the other does not show

  // Returns the map between the rasters of both pictures.
  Affine between_rasters(const Alignment& of) const {
    return between(fit.warp, target_size, source_size, size_of(of.target->raster), size_of(of.source->raster));
  }
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

namespace {

// Registers two pictures coarsely, chooses the target, and makes the target and the source of `p`. Returns nothing
// where no registration is found.
std::optional<Alignment> align(PairComparison& p, const PreparedPicture::Planes& first,
                               const PreparedPicture::Planes& second,
                               const std::optional<std::array<float, 6>>& start) {
  auto coarse = p.register_coarsely(first.small, second.small, start);
  if (!coarse) return std::nullopt;
  const PreparedPicture::Planes *a = &first, *b = &second;
  const auto scale_of = [&](int width_a, int height_a, int width_b, int height_b) {
    return between(*coarse, size_of(a->small), size_of(b->small), {width_a, height_a}, {width_b, height_b}).scale();
  };
  const double scale =
      scale_of(a->raster.full_width, a->raster.full_height, b->raster.full_width, b->raster.full_height);
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
  const Affine warp = between(*coarse, size_of(a->small), size_of(b->small), size_of(p.target), size_of(p.source));
  return Alignment{a, b, swapped, scale, pitch, warp};
}

// Registers the pair finely, and measures its residual. Returns nothing where too little can be compared.
std::optional<Registered> register_and_measure(PairComparison& p, const Alignment& pair) {
  Affine warp = pair.warp;
  const Size target_size = size_of(p.target), source_size = size_of(p.source);
  p.shrink_both();
  constexpr int kMinSideAtHalf = 300;
  if (std::max(target_size.width, target_size.height) > kMinSideAtHalf) warp = p.register_at_half(warp);
  const FramePair frames(p.target, p.source, warp);
  const auto tone = p.find_tone(warp, frames);
  if (!tone) return std::nullopt;
  // True if no finer comparison follows.
  const bool finest = std::max(pair.target->raster.width, pair.target->raster.height) <= kSide;
  const auto fit_at = [&](const Affine& at) -> std::optional<PairFit> {
    // A tone that was found at half the size does not change with shifts of less than this.
    constexpr double kMoved = 0.25;
    const bool elsewhere = max_corner_distance(warp, at, target_size.width, target_size.height) > kMoved;
    const auto tone_there = elsewhere ? p.find_tone(at, frames) : tone;
    const bool quiet = p.is_quiet(at);
    if (!tone_there || p.move_source(at, frames) < kMinPixels) return std::nullopt;
    auto residual = p.measure(*tone_there, quiet);
    if (!residual) return std::nullopt;
    if (finest) residual->doubt_strokes(pair.pitch);
    luma_of(p.moved, p.scratch);
    return PairFit{at, *tone_there, std::move(*residual), exposure_of(*tone_there, p.scratch, p.inner)};
  };
  auto fit = fit_at(p.register_toned(warp, *tone));
  if (!fit) return std::nullopt;
  // Most copies show the whole of the other picture. Beside sharpened strokes the map of whole to whole is better than
  // registration; this second try has to be plain.
  const Affine onto = map_whole_raster(target_size, source_size);
  if (fit->excess() > 1 && fit->excess() <= kThresholds.hopeless &&
      max_corner_distance(fit->warp, onto, target_size.width, target_size.height) <= kThresholds.near_whole) {
    auto again = fit_at(onto);
    if (again && again->excess() <= kThresholds.plainly) fit = std::move(again);
  }
  Registered out{std::move(*fit), frames, target_size, source_size};
  out.target_outside = share_outside(out.fit.warp, p.target[0], p.source[0],
                                     [&](int x, int y) { return frames.is_plain_in_target(x, y); });
  out.source_outside = share_outside(out.fit.warp.inverse(), p.source[0], p.target[0],
                                     [&](int x, int y) { return frames.is_plain_in_source(x, y); });
  return out;
}

Evidence evidence_of(const Registered& found) {
  const Residual& residual = found.fit.residual;
  Evidence out;
  out.windows = residual.figures.windows;
  out.excess = found.fit.excess();
  out.residual_excess = residual.excess;
  out.differing_share = residual.figures.spread;
  out.correlation = static_cast<float>(residual.correlation);
  out.tone = found.fit.exposure.tone;
  out.gain = found.fit.exposure.gain;
  out.gain_rest = found.fit.exposure.rest;
  out.target_outside = found.target_outside;
  out.source_outside = found.source_outside;
  out.has_target_frame = found.frames.drawn_target;
  out.has_source_frame = found.frames.drawn_source;
  return out;
}

void report_figures(const Alignment& pair, const Registered& found, Verdict& out) {
  const ResidualFigures& figures = found.fit.residual.figures;
  out.soft = figures.soft;
  out.plain = figures.plain;
  out.chroma = figures.chroma;
  out.shift = figures.shift;
  out.drift = figures.drift;
  out.spread = figures.spread;
  out.correlation = static_cast<float>(found.fit.residual.correlation);
  out.tone = static_cast<float>(found.fit.exposure.tone);
  out.gain = static_cast<float>(found.fit.exposure.gain);
  out.sharpness = static_cast<float>(found.fit.residual.sharpness);
  out.first_outside = static_cast<float>(pair.swapped ? found.source_outside : found.target_outside);
  out.second_outside = static_cast<float>(pair.swapped ? found.target_outside : found.source_outside);
  out.excess = found.fit.excess();
  out.meeting = pair.swapped ? in_shares(found.fit.warp.inverse(), found.source_size, found.target_size)
                             : in_shares(found.fit.warp, found.target_size, found.source_size);
}

// Makes the pair altered, with the box of the target where it differs. `at` maps target to source, of these sizes.
void report_altered(const Alignment& pair, const std::array<int, 4>& box, const Affine& at, const Size& target,
                    const Size& source, Verdict& out) {
  out.kind = DifferenceKind::altered;
  out.contained = Containment::neither;
  const std::array<float, 4> in_target = shares_of(box, Affine(), target), in_source = shares_of(box, at, source);
  out.first_place = pair.swapped ? in_source : in_target;
  out.second_place = pair.swapped ? in_target : in_source;
}

// Compares a pair that is the same at a long side of 512 in tiles of its rasters, where finer strokes may differ.
void refine_tiles(PairComparison& p, const Alignment& pair, const Registered& found, Verdict& out) {
  const PictureRaster &target = pair.target->raster, &source = pair.source->raster;
  if (std::max(target.width, target.height) <= kSide) return;
  const Affine at = found.between_rasters(pair);
  const PixelBox region = found.frames.any ? found.frames.shared(found.fit.warp, found.target_size, size_of(target))
                                           : whole(size_of(target));
  const TileComparison tiles = compare_tiles(p, target, source, at, found.fit.tone, region);
  if (tiles.worst && tiles.worst->measured.excess > 1) {
    out.excess = tiles.worst->measured.excess;
    report_altered(pair, tiles.worst->place, at, size_of(target), size_of(source), out);
  } else if (tiles.has_no_common_detail) {
    out.kind = DifferenceKind::different;
    out.contained = Containment::neither;
  } else if (const auto& box = tiles.focus.differs) {
    report_altered(pair, {box->left, box->top, box->right, box->bottom}, at, size_of(target), size_of(source), out);
  } else {
    out.first_sharper = pair.swapped ? tiles.focus.second_sharper : tiles.focus.first_sharper;
    out.second_sharper = pair.swapped ? tiles.focus.first_sharper : tiles.focus.second_sharper;
  }
}

// Decides which picture contains the other, by strokes on frames and by what lies around the smaller part. A pair in
// which neither contains the other is framed.
void find_contained(const Alignment& pair, const Registered& found, const Classification& shows, Verdict& out) {
  const PictureRaster &target = pair.target->raster, &source = pair.source->raster;
  const Affine at = found.between_rasters(pair);
  // A picture that seems to show no more than the other may have a line of text on its frame, or at a page's edge.
  const OverlayLocation on_target =
      shows.has_target_more
          ? OverlayLocation::nothing
          : find_overlay_on_target(found.frames, found.target_size, found.source_size, target, source, at);
  const OverlayLocation on_source = shows.has_source_more
                                        ? OverlayLocation::nothing
                                        : find_overlay_on_target(found.frames.swapped(), found.source_size,
                                                                 found.target_size, source, target, at.inverse());
  out.contained = containment_of(shows.has_target_more || on_target == OverlayLocation::picture,
                                 shows.has_source_more || on_source == OverlayLocation::picture, pair.swapped);
  if (on_target == OverlayLocation::frame || on_source == OverlayLocation::frame) out.contained = Containment::neither;
  // A screen, or a blurred picture around the other, shows all of it and is still no copy to keep in its place.
  const bool target_is_part = out.contained == (pair.swapped ? Containment::second : Containment::first);
  const bool source_is_part = out.contained == (pair.swapped ? Containment::first : Containment::second);
  if ((target_is_part && !continues_around(source, size_of(target), at)) ||
      (source_is_part && !continues_around(target, size_of(source), at.inverse())))
    out.contained = Containment::neither;
  if (out.contained == Containment::neither) out.kind = DifferenceKind::framed;
}

}  // namespace

Verdict DetailedComparator::compare(const PreparedPicture& first, const PreparedPicture& second,
                                    const std::optional<std::array<float, 6>>& start) {
  constexpr int kMinSide = 16;
  PairComparison& p = state_->pair;
  Verdict out;
  const PictureRaster &one = first.raster(), &other = second.raster();
  if (std::min({one.width, one.height, other.width, other.height}) < kMinSide) return out;
  const auto pair = align(p, first.planes(), second.planes(), start);
  if (!pair) return out;
  out.scale = static_cast<float>(pair->scale);
  const auto found = register_and_measure(p, *pair);
  if (!found) return out;
  report_figures(*pair, *found, out);
  const Classification shows = classify(evidence_of(*found));
  out.kind = shows.kind;
  if (out.kind == DifferenceKind::altered) {
    const std::array<int, 4> worst = find_worst_place(found->fit.residual.figures.excess);
    report_altered(*pair, worst, found->fit.warp, found->target_size, found->source_size, out);
  }
  if (out.kind == DifferenceKind::same) {
    out.contained = containment_of(shows.has_target_more, shows.has_source_more, pair->swapped);
    refine_tiles(p, *pair, *found, out);
  }
  if (out.kind == DifferenceKind::same) find_contained(*pair, *found, shows, out);
  if (out.kind != DifferenceKind::same || out.contained != Containment::both) return out;
  const FramePair& frames = found->frames;
  out.first_framed = pair->swapped ? frames.put_around_source : frames.put_around_target;
  out.second_framed = pair->swapped ? frames.put_around_target : frames.put_around_source;
  const PictureRaster& few = pair->target->raster;
  if (few.width == few.full_width && few.height == few.full_height) {
    out.enlarged = p.is_enlarged(few, pair->source->raster, found->between_rasters(*pair).inverse());
  }
  return out;
}

}  // namespace millrace::detailed_check
