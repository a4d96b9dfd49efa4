#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
namespace {

// Thresholds, read from the distributions that bench/recipes/similarity_quality.py prints.
struct Limit {
  float bad, threshold, good;  // values at which a test's margin is 0, 0.5 and 1
};
// docs/design/similarity.md gives the reasons for the constants of this file.
constexpr Limit kCoarse = {0.0F, 0.5F, 1.0F};
constexpr Limit kFit = {0.0F, 0.8F, 1.0F};
constexpr Limit kOverlap = {0.3F, 0.6F, 1.0F};
constexpr Limit kStructure = {0.3F, 0.7F, 1.0F};
constexpr Limit kChroma = {0.3F, 0.12F, 0.0F};
constexpr Limit kTone = {90.0F, 45.0F, 0.0F};
constexpr Limit kContrast = {3.0F, 2.0F, 1.0F};
// True pairs correlate from 0.61 (a caption together with an edit of gamma); different small things on black correlate
// less.
constexpr Limit kCorrelation = {0.0F, 0.5F, 0.9F};
constexpr Limit kMovement = {1.0F, 0.18F, 0.0F};
constexpr Limit kMovedShare = {0.2F, 0.012F, 0.0F};
constexpr Limit kSolidDistance = {20.0F, 6.0F, 0.0F};

// A soft slope of sky registers onto any other: with little detail only a close fit in colours that agree tells
// pictures apart. Without this rule, 47 of 897,600 pairs of windows of different photographs passed. Their detail was
// at most 0.81, structure up to 0.90 and chroma from 0.087.
constexpr float kLittleDetail = 0.7F, kSomeDetail = 1.0F;
constexpr float kSoftStructure = 0.86F, kSoftChroma = 0.06F;

// Limits of structure and chroma for this pair.
struct PairLimits {
  Limit structure = kStructure, chroma = kChroma;
  PairLimits(const Features& a, const Features& b) {
    const float detail = std::min(a.detail, b.detail);
    const float part = std::clamp((kSomeDetail - detail) / (kSomeDetail - kLittleDetail), 0.0F, 1.0F);
    structure.threshold += part * (kSoftStructure - structure.threshold);
    chroma.threshold += part * (kSoftChroma - chroma.threshold);
  }

  // Raises the limit where only part of a picture overlaps, because the choice of that part is a degree of freedom. The
  // few false pairs of windows that were left overlap in 63 to 77 % with structure up to 0.76; cropped pictures fit
  // from 0.9.
  void demand_fit_of_small_parts(float overlap, const Warp& warp) {
    const auto& m = warp.m;
    const float met = std::min(overlap, std::fabs(m[1] * m[5] - m[2] * m[4]));
    const float part = std::clamp((0.9F - met) * (1.0F / 0.15F), 0.0F, 1.0F);
    structure.threshold = std::max(structure.threshold, kStructure.threshold + part * 0.12F);
  }

  // Leaving out tiles that only one picture shows is a degree of freedom, too, so the limit rises. Two pairs of windows
  // passed with 0.84 before it did. Dark designs under a bright watermark have 0.91 and correlate from 0.87, the
  // overlay included.
  void compare_beside_overlay(const Structure& fitted, float& measured) {
    constexpr float kCorrelated = 0.85F;
    if (fitted.correlation < kCorrelated || fitted.beside_overlay < kSoftStructure) return;
    measured = fitted.beside_overlay;
    structure.threshold = std::max(structure.threshold, kSoftStructure);
  }
};

// Difference of chroma beyond which a finer registration cannot bring the colours together.
constexpr float kClearlyOtherChroma = 0.3F;
// Structure from which a picture of other colours is a recoloured one; no pictures are merged for it.
constexpr float kRecoloured = 0.6F;

float margin(float value, const Limit& limit) {
  const bool rising = limit.good > limit.bad;
  const bool meets_limit = rising ? value >= limit.threshold : value <= limit.threshold;
  if (meets_limit) {
    return std::min(1.0F, 0.5F + 0.5F * (value - limit.threshold) / (limit.good - limit.threshold));
  }
  // A failing value gets just below one half at best, so that 0.5 means a pass however the division rounds.
  return std::clamp(0.5F * (value - limit.bad) / (limit.threshold - limit.bad), 0.0F, 0.4999F);
}

bool meets_limit(float value, const Limit& limit) { return margin(value, limit) >= 0.5F; }

Comparison compare_solid(const Features& a, const Features& b) {
  Comparison out;
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
  out.kind = out.score >= 0.5F ? SimilarityKind::same : SimilarityKind::different;
  return out;
}

// Returns how many times a contrast differs from 1, up or down.
float ratio(float contrast) { return contrast < 1 ? 1 / contrast : contrast; }

// Compares the structure of two pictures without their colours. The luma of the second is warped onto the first and
// gets the first's mean and deviation; `inverted` also inverts it.
Structure compare_plain_structure(const Features& a, const Features& b, const Frames& frames, const Warp& warp,
                                  bool inverted, float& overlap) {
  std::array<float, 4096> moved, inside;
  resample<64>(b.luma, frames, warp, moved, inside);
  Lanes n, sa, sb, saa, sbb;
  for (std::size_t i = 0; i < 4096; ++i) {
    const float w = inside[i], va = a.luma[i] - 128.0F, vb = moved[i] - 128.0F;
    n.lane[i % 8] += w;
    sa.lane[i % 8] += w * va;
    sb.lane[i % 8] += w * vb;
    saa.lane[i % 8] += w * va * va;
    sbb.lane[i % 8] += w * vb * vb;
  }
  const float count = n.total() + 1e-3F;
  const float ma = sa.total() / count, mb = sb.total() / count;
  const float va = std::max(0.0F, saa.total() / count - ma * ma) + 1.0F;
  const float vb = std::max(0.0F, sbb.total() / count - mb * mb) + 1.0F;
  const float gain = std::min(8.0F, std::sqrt(va / vb)) * (inverted ? -1.0F : 1.0F);
  for (float& v : moved) v = (v - 128.0F - mb) * gain + ma + 128.0F;
  overlap = n.total() * (1.0F / 4096.0F);
  return compare_structure(a.luma, moved, inside);
}

// Lumas of both pictures on the first one's raster, and how well they agree.
struct Fitted {
  std::array<float, 4096> a, b, inside;
  Structure structure;
  Warp warp;
};

// Starts for registration where an overlay on a soft picture has led it astray. They put a whole on a middle and a
// middle on a whole, as the candidate rule lets pictures match.
constexpr float kMiddle = 58.0F / 64.0F;
constexpr std::array<Warp, 2> kMiddles = {{{{0, kMiddle, 0, 0, 0, kMiddle}}, {{0, 1 / kMiddle, 0, 0, 0, 1 / kMiddle}}}};

Registration register_first(const Features& a, const Features& b, const Frames& frames, const CoarseMatch& coarse) {
  const bool inverted = coarse.correlation < 0;
  Registration best = register_luma<32>(a.soft, b.soft, frames, coarse.warp, inverted, 5, kFit.threshold);
  if (inverted || meets_limit(best.fit, kFit)) return best;
  for (const Warp& middle : kMiddles) {
    const Registration again = register_luma<32>(a.soft, b.soft, frames, middle, false, 8, kFit.threshold);
    if (again.fit > best.fit) best = again;
  }
  return best;
}

// Returns the quality of a registration; more is better.
float quality(const Structure& s) { return s.structure + s.correlation - 0.5F * s.movement; }

// Returns the luma of the channels after the curve. An edit of tone works on channels; where one of them clips, luma
// changes otherwise than a grey of its level.
std::array<float, 4096> toned_luma(const Features& f, const Tone& tone) {
  std::array<float, 256> curve;
  for (std::size_t level = 0; level < 256; ++level) curve[level] = tone(static_cast<float>(level));
  std::array<float, 4096> out;
  for (std::size_t i = 0; i < 4096; ++i) {
    const std::uint8_t* p = f.pixels.data() + 3 * i;
    out[i] = 0.299F * curve[p[0]] + 0.587F * curve[p[1]] + 0.114F * curve[p[2]];
  }
  return out;
}

std::array<float, 1024> toned_soft(const Features& f, const Tone& tone) {
  std::array<float, 1024> out;
  for (std::size_t i = 0; i < 1024; ++i) {
    out[i] = 0.299F * tone(f.colour[0][i]) + 0.587F * tone(f.colour[1][i]) + 0.114F * tone(f.colour[2][i]);
  }
  return out;
}

// Registers once more with the tones made equal; where that leaves a doubt, again on the full raster.
void fit_closely(const Features& a, const Features& b, const Frames& frames, const Tone& tone, const Warp& start,
                 Fitted& out) {
  const Features& source = tone.from_second ? b : a;
  const std::array<float, 4096> toned = toned_luma(source, tone);
  const std::array<float, 1024> soft = toned_soft(source, tone);
  const std::array<float, 4096>& lb = tone.from_second ? toned : b.luma;
  out.a = tone.from_second ? a.luma : toned;
  std::array<float, 4096> moved, inside;
  bool first = true;
  const auto consider = [&](const Warp& warp) {
    resample<64>(lb, frames, warp, moved, inside);
    const Structure structure = compare_structure(out.a, moved, inside);
    if (!first && quality(structure) <= quality(out.structure)) return;
    first = false;
    out.structure = structure;
    out.b = moved;
    out.inside = inside;
    out.warp = warp;
  };
  consider(
      register_luma<32>(tone.from_second ? a.soft : soft, tone.from_second ? soft : b.soft, frames, start, false, 2)
          .warp);
  if (out.structure.structure <= 0.45F || (out.structure.structure >= 0.9F && out.structure.movement <= 0.1F)) return;
  // The registration before the curve may be the better one where the curve clips most of a picture.
  consider(start);
  consider(register_luma<64>(out.a, lb, frames, out.warp, false, 5).warp);
  // Identity is tried too, as it is and as a start. Most edits leave the position alone, and an overlay or a change of
  // colours may have led registration astray.
  consider({});
  consider(register_luma<64>(out.a, lb, frames, {}, false, 3).warp);
  if (out.structure.structure >= kStructure.threshold) return;
  for (const Warp& middle : kMiddles) consider(register_luma<64>(out.a, lb, frames, middle, false, 5).warp);
}

// Request: all figures, or only whether the pictures are the same. For the latter, measuring stops when they cannot be
// the same any more; the figures until then are equal.
enum class Asked { all, same };

Comparison compare_ordered(const Features& a, const Features& b, Asked asked, Warp& meeting) {
  Comparison out;
  const CoarseMatch coarse = search_coarsely(a, b);
  out.coarse = coarse.correlation;
  if (!meets_limit(std::fabs(coarse.correlation), kCoarse)) {
    out.score = margin(coarse.correlation, kCoarse);
    return out;
  }
  const bool inverted = coarse.correlation < 0;
  if (inverted && asked == Asked::same) return out;
  const Frames frames(a, b);
  PairLimits limits(a, b);
  const Registration first = register_first(a, b, frames, coarse);
  out.fit = first.fit;
  meeting = first.warp;
  if (!meets_limit(first.fit, kFit)) {
    out.score = inverted ? 0 : margin(first.fit, kFit);
    return out;
  }

  Colours colours = colours_at(a, b, first.warp);
  const Tone tone = fit_tone(colours);
  out.tone = tone.distance;
  out.contrast = tone.contrast;
  out.chroma = chroma_difference(colours, tone);
  const float tone_score =
      std::min({margin(tone.distance, kTone), margin(ratio(tone.contrast), kContrast), inverted ? 0.0F : 1.0F});
  if (tone_score < 0.5F || out.chroma > kClearlyOtherChroma) {
    if (asked == Asked::same) return out;
    const Structure s = compare_plain_structure(a, b, frames, first.warp, inverted, out.overlap);
    out.structure = s.structure;
    out.correlation = s.correlation;
    out.score = std::min(tone_score, margin(out.chroma, limits.chroma));
    if (s.structure >= kRecoloured) out.kind = SimilarityKind::recoloured;
    return out;
  }

  Fitted fitted;
  fit_closely(a, b, frames, tone, first.warp, fitted);
  meeting = fitted.warp;
  colours = colours_at(a, b, fitted.warp);
  out.chroma = chroma_difference(colours, tone);
  float covered = 0;
  for (const float in : fitted.inside) covered += in;
  out.overlap = covered * (1.0F / 4096.0F);
  out.structure = fitted.structure.structure;
  out.correlation = fitted.structure.correlation;
  limits.demand_fit_of_small_parts(out.overlap, fitted.warp);
  if (!meets_limit(out.structure, limits.structure)) limits.compare_beside_overlay(fitted.structure, out.structure);
  const float colour_score = std::min(tone_score, margin(out.chroma, limits.chroma));
  out.score = std::min({colour_score, margin(out.structure, limits.structure), margin(out.overlap, kOverlap),
                        margin(out.correlation, kCorrelation)});
  if (out.score >= 0.5F) {
    const Movement movement = find_movement(fitted.a, fitted.b, fitted.inside);
    out.movement = movement.distance;
    out.moved_share = movement.share;
    out.score = std::min({out.score, margin(out.movement, kMovement), margin(out.moved_share, kMovedShare)});
  }
  if (out.score >= 0.5F) {
    out.kind = SimilarityKind::same;
  } else if (colour_score < 0.5F && out.structure >= kRecoloured) {
    out.kind = SimilarityKind::recoloured;
  }
  return out;
}

Comparison compare(const Features& a, const Features& b, Asked asked) {
  Warp meeting;
  const int order = std::memcmp(a.pixels.data(), b.pixels.data(), kThumbnailBytes);
  if (order == 0) {
    Comparison out;
    out.kind = SimilarityKind::same;
    out.score = out.coarse = out.overlap = out.structure = out.correlation = 1;
    return out;
  }
  if (a.solid || b.solid) return compare_solid(a, b);
  return order < 0 ? compare_ordered(a, b, asked, meeting) : compare_ordered(b, a, asked, meeting);
}

Warp inverse(const Warp& warp) {
  const auto& m = warp.m;
  const float share = 1 / (m[1] * m[5] - m[2] * m[4]);
  Warp out;
  out.m = {0, m[5] * share, -m[2] * share, 0, -m[4] * share, m[1] * share};
  out.m[0] = -(out.m[1] * m[0] + out.m[2] * m[3]);
  out.m[3] = -(out.m[4] * m[0] + out.m[5] * m[3]);
  return out;
}

}  // namespace

Comparison compare(const Features& a, const Features& b) { return compare(a, b, Asked::all); }

std::array<float, 6> find_registration(const Features& a, const Features& b) {
  const int order = std::memcmp(a.pixels.data(), b.pixels.data(), kThumbnailBytes);
  Warp meeting;
  if (order == 0 || a.solid || b.solid) return meeting.m;
  if (order < 0) {
    compare_ordered(a, b, Asked::all, meeting);
    return meeting.m;
  }
  compare_ordered(b, a, Asked::all, meeting);
  return inverse(meeting).m;
}

bool same(const Features& a, const Features& b) { return compare(a, b, Asked::same).kind == SimilarityKind::same; }

}  // namespace millrace::similarity
