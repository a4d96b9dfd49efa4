#include <algorithm>
#include <cmath>

#include "src/kernels/similarity/similarity_steps.h"

namespace millrace::similarity {
Colours colours_at(const Features& a, const Features& b, const Warp& warp) {
  Colours out;
  std::array<Plane<32>, 3> moved;
  Plane<32> inside;
  resample_channels(b.colour, warp, moved, inside);
  // Both pictures use means of the same four samples. A single sample of the second would be sharper than the first's
  // mean wherever a scale brings it onto a pixel. Fine coloured texture would then look like another colour.
  for (std::size_t c = 0; c < 3; ++c) {
    halve<32>(a.colour[c].data(), out.a[c].data());
    halve<32>(moved[c].data(), out.b[c].data());
  }
  halve<32>(inside.data(), out.inside.data());
  for (float& in : out.inside) in = in == 1.0F ? 1.0F : 0.0F;
  return out;
}

float chroma_difference(const Colours& colours, const Tone& tone) {
  const auto& source = tone.from_second ? colours.b : colours.a;
  const auto& target = tone.from_second ? colours.a : colours.b;
  const auto& inside = colours.inside;
  constexpr std::size_t n = kPlaces;
  std::array<float, n> su, sv, tu, tv;
  for (std::size_t k = 0; k < n; ++k) {
    const float r = tone(source[0][k]), g = tone(source[1][k]), b = tone(source[2][k]);
    su[k] = r - g;
    sv[k] = b - g;
    tu[k] = target[0][k] - target[1][k];
    tv[k] = target[2][k] - target[1][k];
  }
  Lanes cross, square;
  for (std::size_t k = 0; k < n; ++k) {
    cross.lane[k % 8] += inside[k] * (su[k] * tu[k] + sv[k] * tv[k]);
    square.lane[k % 8] += inside[k] * (su[k] * su[k] + sv[k] * sv[k]);
  }
  // A single change of saturation is forgiven. A grey copy is not: it has no colour left to compare.
  // docs/design/similarity.md gives the reasons for the constants of this file.
  const float saturation = std::clamp(cross.total() / (square.total() + 256.0F), 0.5F, 2.0F);
  // Differences are averaged over 2 x 2 places, in which the noise of fine coloured detail cancels and a recolouring
  // does not. The amount of colour is not averaged.
  constexpr std::size_t kCells = 64;
  std::array<float, kCells> du{}, dv{}, size{}, count{};
  for (std::size_t k = 0; k < n; ++k) {
    if (inside[k] == 0) continue;
    const std::size_t cell = (k / 32) * 8 + (k % 16) / 2;
    du[cell] += tu[k] - saturation * su[k];
    dv[cell] += tv[k] - saturation * sv[k];
    size[cell] +=
        0.5F * (std::sqrt(tu[k] * tu[k] + tv[k] * tv[k]) + saturation * std::sqrt(su[k] * su[k] + sv[k] * sv[k]));
    count[cell] += 1;
  }
  // The worst fifth of the differences is dropped, by a histogram: sorting would leave the order of
  // the sum to the library.
  std::array<float, 512> histogram{};
  std::array<float, kCells> difference;
  float covered = 0;
  for (std::size_t k = 0; k < kCells; ++k) {
    difference[k] = std::sqrt(du[k] * du[k] + dv[k] * dv[k]);  // size of the cell's sum
    if (count[k] == 0) continue;
    histogram[static_cast<std::size_t>(std::min(511.0F, difference[k] / count[k]))] += count[k];
    covered += count[k];
  }
  float kept = 0;
  std::size_t limit = 0;
  while (limit < 511 && (kept += histogram[limit]) * 5 < covered * 4) ++limit;
  float sum = 0, scale = 0, used = 0;
  for (std::size_t k = 0; k < kCells; ++k) {
    if (count[k] == 0 || difference[k] / count[k] >= static_cast<float>(limit + 1)) continue;
    sum += difference[k];
    scale += size[k];
    used += count[k];
  }
  // Twenty levels keep the noise of compression on a nearly grey picture from looking like another
  // colour.
  return used > 0 ? sum / (scale + 20.0F * used) : 1.0F;
}

}  // namespace millrace::similarity
