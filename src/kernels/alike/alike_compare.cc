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
  if (a.solid != b.solid) return out;
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
  const Warp warp = register_luma(a, b, coarse.warp, inverted);

  Colours colours;
  for (std::size_t c = 0; c < 3; ++c) {
    resample<32>(b.colour[c], warp, colours.b[c], colours.inside);
    colours.a[c] = a.colour[c];
  }
  float covered = 0;
  for (const float in : colours.inside) covered += in;
  out.overlap = covered * (1.0F / 1024.0F);
  const Tone tone = fit_tone(colours);
  out.tone = tone.distance;
  out.chroma = chroma_difference(colours, tone);

  std::array<float, 4096> moved, inside, toned;
  resample<64>(b.luma, warp, moved, inside);
  if (tone.from_second) {
    for (std::size_t i = 0; i < 4096; ++i) moved[i] = tone(moved[i]);
    toned = a.luma;
  } else {
    for (std::size_t i = 0; i < 4096; ++i) toned[i] = tone(a.luma[i]);
  }
  const Structure s = compare_structure(toned, moved, inside);
  out.structure = s.structure;
  out.correlation = s.correlation;
  out.movement = s.movement;
  out.moved_share = s.moved_share;
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
