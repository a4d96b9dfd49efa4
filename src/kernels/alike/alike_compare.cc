#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/kernels/alike/alike_steps.h"

namespace millrace::alike {
namespace {

// Thresholds: see bench/recipes/alike_quality.py for the distributions they were read from.
constexpr float kSolidDistance = 6.0F;
constexpr float kCoarse = 0.5F;

// [bad, threshold, good] to [0, 0.5, 1], held at the ends.
float margin(float value, float bad, float threshold, float good) {
  const float t = (value - threshold) / (value - threshold >= 0 == (good > bad) ? good - threshold
                                                                                : threshold - bad);
  return std::clamp(0.5F + 0.5F * t * (good > bad ? 1.0F : 1.0F), 0.0F, 1.0F);
}

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
  out.kind = distance <= kSolidDistance ? Kind::same : Kind::different;
  out.score = std::clamp(1.0F - 0.5F * distance / kSolidDistance, 0.0F, 1.0F);
  return out;
}

Verdict compare_ordered(const Features& a, const Features& b) {
  Verdict out;
  const Coarse coarse = search_coarsely(a, b);
  out.coarse = coarse.correlation;
  if (std::fabs(coarse.correlation) < kCoarse) return out;
  const bool inverted = coarse.correlation < 0;
  const Registered first = register_luma<32>(a.soft, b.soft, coarse.warp, inverted, 5);
  out.fit = first.fit;
  if (first.fit < 0.8F) return out;

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
                                      first.warp, false, 2).warp;
  resample<64>(lb, warp, moved, inside);
  Structure s = compare_structure(la, moved, inside);
  // Where that leaves a doubt, once more on the full raster.
  if (s.structure > 0.4F && (s.movement > 0.12F || s.structure < 0.9F)) {
    warp = register_luma<64>(la, lb, warp, false, 3).warp;
    resample<64>(lb, warp, moved, inside);
    s = compare_structure(la, moved, inside);
  }
  float covered = 0;
  for (const float in : inside) covered += in;
  out.overlap = covered * (1.0F / 4096.0F);
  out.structure = s.structure;
  out.correlation = s.correlation;
  out.movement = s.movement;
  out.moved_share = s.moved_share;
  colours = colours_at(a, b, warp);
  out.chroma = chroma_difference(colours, tone);
  out.kind = out.structure > 0.66F && out.chroma < 0.2F ? Kind::same : Kind::different;
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
