#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/alike/alike_steps.h"

namespace millrace::alike {
namespace {

// Thresholds, read from the distributions that bench/recipes/alike_quality.py prints.
struct Limit {
  float bad, threshold, good;  // where a test's margin is 0, 0.5 and 1
};
constexpr Limit kCoarse = {0.0F, 0.5F, 1.0F};
constexpr Limit kFit = {0.0F, 0.8F, 1.0F};
constexpr Limit kOverlap = {0.3F, 0.6F, 1.0F};
constexpr Limit kStructure = {0.3F, 0.7F, 1.0F};
constexpr Limit kChroma = {0.3F, 0.13F, 0.0F};
constexpr Limit kTone = {90.0F, 45.0F, 0.0F};
constexpr Limit kContrast = {3.0F, 2.0F, 1.0F};
constexpr Limit kMovement = {1.0F, 0.26F, 0.0F};
constexpr Limit kMovedShare = {0.2F, 0.02F, 0.0F};
constexpr Limit kSolidDistance = {20.0F, 6.0F, 0.0F};

float margin(float value, const Limit& limit) {
  const bool rising = limit.good > limit.bad;
  const bool passes = rising ? value >= limit.threshold : value <= limit.threshold;
  if (passes) {
    return std::min(1.0F, 0.5F + 0.5F * (value - limit.threshold) / (limit.good - limit.threshold));
  }
  // Just below one half at best, so that 0.5 means a pass however the division rounds.
  return std::clamp(0.5F * (value - limit.bad) / (limit.threshold - limit.bad), 0.0F, 0.4999F);
}

bool passes(float value, const Limit& limit) { return margin(value, limit) >= 0.5F; }

Verdict compare_solid(const Features& a, const Features& b) {
  Verdict out;
  // A picture just above the limit may be a copy of one just below.
  for (const Features* f : {&a, &b}) {
    for (const float deviation : f->deviation) {
      if (deviation >= 2 * kSolidDeviation) return out;
    }
  }
  float distance = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    distance = std::max(distance, std::fabs(a.mean[c] - b.mean[c]));
  }
  out.score = margin(distance, kSolidDistance);
  out.kind = out.score >= 0.5F ? Kind::same : Kind::different;
  return out;
}

// How far a contrast is from 1, either way.
float ratio(float contrast) { return contrast < 1 ? 1 / contrast : contrast; }

Verdict compare_ordered(const Features& a, const Features& b) {
  Verdict out;
  const Coarse coarse = search_coarsely(a, b);
  out.coarse = coarse.correlation;
  if (!passes(std::fabs(coarse.correlation), kCoarse)) {
    out.score = margin(coarse.correlation, kCoarse);
    return out;
  }
  const bool inverted = coarse.correlation < 0;
  const Registered first = register_luma<32>(a.soft, b.soft, coarse.warp, inverted, 5);
  out.fit = first.fit;
  if (!passes(first.fit, kFit)) {
    out.score = inverted ? 0 : margin(first.fit, kFit);
    return out;
  }

  Colours colours = colours_at(a, b, first.warp);
  const Tone tone = fit_tone(colours);
  out.tone = tone.distance;
  out.contrast = tone.contrast;

  // Once more, finer, and with the tones made equal.
  std::array<float, 4096> toned, moved, inside;
  const std::array<float, 4096>& source = tone.from_second ? b.luma : a.luma;
  for (std::size_t i = 0; i < 4096; ++i) toned[i] = tone(source[i]);
  const std::array<float, 4096>& la = tone.from_second ? a.luma : toned;
  const std::array<float, 4096>& lb = tone.from_second ? toned : b.luma;
  std::array<float, 1024> soft;
  const std::array<float, 1024>& soft_source = tone.from_second ? b.soft : a.soft;
  for (std::size_t i = 0; i < 1024; ++i) soft[i] = tone(soft_source[i]);
  Warp warp = register_luma<32>(tone.from_second ? a.soft : soft, tone.from_second ? soft : b.soft,
                                first.warp, false, 2)
                  .warp;
  resample<64>(lb, warp, moved, inside);
  Structure s = compare_structure(la, moved, inside);
  colours = colours_at(a, b, warp);
  out.chroma = chroma_difference(colours, tone);
  const float colour_score =
      std::min({margin(tone.distance, kTone), margin(ratio(tone.contrast), kContrast),
                margin(out.chroma, kChroma), inverted ? 0.0F : 1.0F});
  // Where the colours agree and a doubt is left, once more on the full raster; also from identity,
  // which most edits leave alone and from which an overlay or a change of colours may have led
  // registration astray.
  if (colour_score >= 0.5F && s.structure > 0.45F && (s.movement > 0.1F || s.structure < 0.9F)) {
    std::array<float, 4096> other, other_inside;
    const std::array<Warp, 3> tries = {register_luma<64>(la, lb, warp, false, 5).warp, Warp{},
                                       register_luma<64>(la, lb, Warp{}, false, 3).warp};
    for (const Warp& again : tries) {
      resample<64>(lb, again, other, other_inside);
      const Structure t = compare_structure(la, other, other_inside);
      if (t.structure - t.movement > s.structure - s.movement) {
        s = t;
        moved = other;
        inside = other_inside;
      }
    }
  }
  float covered = 0;
  for (const float in : inside) covered += in;
  out.overlap = covered * (1.0F / 4096.0F);
  out.structure = s.structure;
  out.correlation = s.correlation;
  out.score =
      std::min({colour_score, margin(s.structure, kStructure), margin(out.overlap, kOverlap)});
  if (out.score >= 0.5F) {
    const Movement movement = find_movement(la, moved, inside);
    out.movement = movement.distance;
    out.moved_share = movement.share;
    out.score = std::min(
        {out.score, margin(out.movement, kMovement), margin(out.moved_share, kMovedShare)});
  }
  if (out.score >= 0.5F) {
    out.kind = Kind::same;
  } else if (colour_score < 0.5F && passes(std::fabs(s.structure), kStructure)) {
    out.kind = Kind::recoloured;
  }
  return out;
}

}  // namespace

Verdict compare(const Features& a, const Features& b) {
  const int order = std::memcmp(a.pixels.data(), b.pixels.data(), kThumbnailBytes);
  if (order == 0) {
    Verdict out;
    out.kind = Kind::same;
    out.score = out.coarse = out.overlap = out.structure = out.correlation = 1;
    return out;
  }
  if (a.solid || b.solid) return compare_solid(a, b);
  return order < 0 ? compare_ordered(a, b) : compare_ordered(b, a);
}

}  // namespace millrace::alike
