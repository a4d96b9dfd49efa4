#include "src/kernels/detailed_check/detailed_check_pair.h"

#include <algorithm>
#include <cmath>

namespace millrace::detailed_check {
namespace {

Affine box_to_box(const PixelBox& from, const PixelBox& to) {
  const double sx = static_cast<double>(to.right - to.left) / (from.right - from.left);
  const double sy = static_cast<double>(to.bottom - to.top) / (from.bottom - from.top);
  Affine out;
  out.m = {sx, 0, to.left - 0.5 - (from.left - 0.5) * sx, 0, sy, to.top - 0.5 - (from.top - 0.5) * sy};
  return out;
}

Affine in_pixels(const std::array<float, 6>& m, const Plane& from, const Plane& to) {
  std::array<double, 6> d;
  for (std::size_t i = 0; i < 6; ++i) d[i] = static_cast<double>(m[i]);
  const double w = from.width(), h = from.height(), sw = to.width(), sh = to.height();
  // Converts from pixels to shares of a side and back.
  Affine out;
  out.m = {d[1] * sw / w, d[2] * sw / h, 0, d[4] * sh / w, d[5] * sh / h, 0};
  out.m[2] = (d[0] + d[1] * (0.5 / w - 0.5) + d[2] * (0.5 / h - 0.5) + 0.5) * sw - 0.5;
  out.m[5] = (d[3] + d[4] * (0.5 / w - 0.5) + d[5] * (0.5 / h - 0.5) + 0.5) * sh - 0.5;
  return out;
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

// Change that the filter makes, relative to the detail of the picture: on a soft picture its weights say little.
double effect_of(const Plane& before, const Plane& after, const Plane& soft, const Plane& valid) {
  double n = 0, sum = 0, square = 0, detail = 0;
  for (int y = 0; y < valid.height(); ++y) {
    const float *b = before.row(y), *a = after.row(y), *s = soft.row(y), *in = valid.row(y);
    for (int x = 0; x < valid.width(); ++x) {
      if (in[x] == 0) continue;
      const double d = static_cast<double>(a[x] - b[x]), e = static_cast<double>(b[x] - s[x]);
      n += 1;
      sum += d;
      square += d * d;
      detail += e * e;
    }
  }
  if (n == 0) return 0;
  return std::sqrt(std::max(0.0, square / n - sum / n * (sum / n)) / (detail / n + 1));
}

}  // namespace

Affine map_whole_raster(const Size& from, const Size& to) { return box_to_box(whole(from), whole(to)); }

Affine between(const Affine& warp, const Size& from, const Size& to, const Size& new_from, const Size& new_to) {
  const auto times = [](int now, int before) { return static_cast<double>(now) / before; };
  return warp.rescaled(times(new_from.width, from.width), times(new_from.height, from.height),
                       times(new_to.width, to.width), times(new_to.height, to.height));
}

// docs/design/detailed-check.md gives the reasons for the constants of this file.
std::optional<Affine> PairComparison::register_coarsely(const Colour& a, const Colour& b,
                                                        const std::optional<std::array<float, 6>>& start) {
  luma_of(a, luma_a);
  luma_of(b, luma_b);
  const PixelBox all_a = whole(size_of(luma_a)), all_b = whole(size_of(luma_b)), box_a = content_box(a),
                 box_b = content_box(b);
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
    const Affine at = between(from, size_of(luma_a), size_of(luma_b), size_of(small_a), size_of(small_b));
    if (!(at.scale() > 0.2 && at.scale() < 5)) continue;
    const Fit fit = register_luma(soft_a, soft_b, at, 8, fitting);
    const Misfit found = measure_misfit(soft_a, soft_b, fit, fitting);
    if (found.overlap < 0.15) continue;
    // Pictures that overlap little fit more easily.
    const double misfit = found.misfit / std::sqrt(std::sqrt(found.overlap));
    if (best && misfit >= least) continue;
    best = fit.warp;
    least = misfit;
  }
  if (!best) return best;
  blur(luma_a, 1.2, soft_a);
  blur(luma_b, 1.2, soft_b);
  return register_luma(soft_a, soft_b,
                       between(*best, size_of(small_a), size_of(small_b), size_of(luma_a), size_of(luma_b)), 4, fitting)
      .warp;
}

void PairComparison::shrink_both() {
  shrink(target, 0.5, small_target);
  shrink(source, 0.5, small_source);
}

Affine PairComparison::register_at_half(const Affine& warp) {
  luma_of(small_target, luma_a);
  luma_of(small_source, luma_b);
  blur(luma_a, 1, soft_a);
  blur(luma_b, 1, soft_b);
  const Affine half = between(warp, size_of(target), size_of(source), size_of(small_target), size_of(small_source));
  const Fit fit = register_luma(soft_a, soft_b, half, 4, fitting);
  return between(fit.warp, size_of(small_target), size_of(small_source), size_of(target), size_of(source));
}

std::int64_t PairComparison::move_source(const Affine& warp, const FramePair& frames) {
  for (Plane& plane : moved) plane.size(target[0].width(), target[0].height());
  if (warp.is_whole_shift()) {
    for (std::size_t c = 0; c < 3; ++c) warp_linear(source[c], warp, moved[c]);
  } else {
    interleave(source, interleaved);
    warp_cubic(interleaved, warp, moved);
  }
  valid.size(target[0].width(), target[0].height());
  return mark_valid(warp, frames, source[0], valid);
}

std::optional<Tone> PairComparison::find_tone(const Affine& warp, const FramePair& frames) {
  const Affine half = between(warp, size_of(target), size_of(source), size_of(small_target), size_of(small_source));
  for (std::size_t c = 0; c < 3; ++c) {
    moved[c].size(small_target[0].width(), small_target[0].height());
    warp_linear(small_source[c], half, moved[c]);
  }
  valid.size(small_target[0].width(), small_target[0].height());
  if (mark_valid(half, frames.halved(), small_source[0], valid) < kMinPixels) return std::nullopt;
  for (std::size_t c = 0; c < 3; ++c) {
    blur(small_target[c], 1, soft_target[c]);
    blur(moved[c], 1, soft_source[c]);
  }
  return fit_tone(soft_source, soft_target, valid);
}

Affine PairComparison::register_toned(const Affine& warp, const Tone& tone) {
  soften(tone);
  return register_luma(soft_a, soft_b, warp, 3, fitting).warp;
}

std::optional<Residual> PairComparison::measure(const Tone& tone, bool quiet) {
  const bool little = tone.is_near_identity();
  if (!little) apply_tone(tone, moved, toned);
  const Colour& there = little ? moved : toned;
  luma_of(target, luma_a);
  luma_of(there, luma_b);
  if (erode(valid, scratch, inner) < kMinPixels) return std::nullopt;
  return measure_inner(there, quiet);
}

std::optional<Residual> PairComparison::measure_unmoved(const Tone& tone, bool quiet) {
  const int w = target[0].width(), h = target[0].height();
  inner.size(w, h);
  for (int y = 0; y < h; ++y) {
    std::fill_n(inner.row(y), w, y == 0 || y + 1 == h ? 0.0F : 1.0F);
    inner.row(y)[0] = inner.row(y)[w - 1] = 0;
  }
  return measure_inner(toned_source(tone), quiet);
}

// Measures the lumas in luma_a and luma_b, and the colours of the target and `there`.
std::optional<Residual> PairComparison::measure_inner(const Colour& there, bool quiet) {
  if (quiet) {
    subtract_without_filter(luma_b, luma_a, inner, sharp);
  } else {
    fit_sharpness(luma_b, luma_a, inner, sharpening, sharp);
  }
  measure_windows(sharp, there, target, inner, windows, maps);
  auto figures = compute_figures(maps);
  if (!figures) return std::nullopt;
  Residual out;
  out.figures = std::move(*figures);
  out.correlation = correlation_of(sharp.fitted, sharp.other, inner);
  out.sharpness = sharp.deviation();
  if (out.sharpness >= kThresholds.min_filter) {
    const Plane& before = sharp.forwards ? luma_b : luma_a;
    blur(before, 4, scratch);
    out.clean =
        effect_of(before, sharp.forwards ? sharp.fitted : sharp.other, scratch, inner) < kThresholds.min_filter_effect;
  }
  const ResidualFigures& f = out.figures;
  constexpr Thresholds kLimits = kThresholds;
  out.excess = std::max({f.soft / (out.clean ? kLimits.soft : kLimits.soft_filtered), f.plain / kLimits.plain,
                         f.chroma / kLimits.chroma, f.shift / (out.clean ? kLimits.shift : kLimits.shift_filtered),
                         f.lone, f.lone_in_little * (out.clean ? 1 : kLimits.soft / kLimits.soft_filtered)});
  return out;
}

}  // namespace millrace::detailed_check
