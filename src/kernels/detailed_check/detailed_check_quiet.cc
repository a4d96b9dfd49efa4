#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_classify.h"
#include "src/kernels/detailed_check/detailed_check_pair.h"

namespace millrace::detailed_check {
namespace {

// Channels to test: red and blue carry the colour that luma does not.
constexpr std::array<std::size_t, 2> kColours = {0, 2};

// Residual that a window may have: some noise, and a share of the detail that both pictures show there, times a factor.
struct Allowed {
  float times, noise, share;
};

// True if all windows, of two by two cells, of two planes are within limits. `moved` is the source, resampled by the
// warp onto the target's raster.
template <int kCell>
bool all_within(const Plane& target, const Plane& moved, const Affine& warp, const Plane& source,
                const Allowed& allowed) {
  enum { squares, first, first_squares, second, second_squares, counted, kSums };
  const int w = target.width(), cells_x = w / kCell, cells_y = target.height() / kCell;
  const auto wide = static_cast<std::size_t>(w);
  std::vector<float> columns(kSums * wide), cells(2 * kSums * static_cast<std::size_t>(cells_x));
  for (int cy = 0; cy < cells_y; ++cy) {
    std::fill(columns.begin(), columns.end(), 0.0F);
    for (int y = cy * kCell; y < (cy + 1) * kCell; ++y) {
      const PixelSpan in = inside_row(warp, y, w, source.width(), source.height(), 0.5);
      const auto of = [&](int sum) { return columns.data() + static_cast<std::size_t>(sum) * wide + in.begin; };
      add_moments(target.row(y) + in.begin, moved.row(y) + in.begin, in.end - in.begin,
                  {of(squares), of(first), of(first_squares), of(second), of(second_squares)});
      float* const count = of(counted);
      for (int x = 0; x < in.end - in.begin; ++x) count[x] += 1;
    }
    const auto cell = [&](int row, int sum, int x) -> float& {
      return cells[static_cast<std::size_t>(((row % 2) * kSums + sum) * cells_x + x)];
    };
    for (int sum = 0; sum < kSums; ++sum) {
      const float* c = columns.data() + static_cast<std::size_t>(sum) * wide;
      for (int x = 0; x < cells_x; ++x, c += kCell) {
        cell(cy, sum, x) = c[0] + c[1];
        if constexpr (kCell == 4) cell(cy, sum, x) += c[2] + c[3];
      }
    }
    for (int x = 0; cy > 0 && x + 1 < cells_x; ++x) {
      const auto of = [&](int sum) {
        return (cell(cy - 1, sum, x) + cell(cy - 1, sum, x + 1)) + (cell(cy, sum, x) + cell(cy, sum, x + 1));
      };
      const float n = of(counted);
      if (n == 0) continue;
      const auto variance = [&](int sum, int square) {
        const float mean = of(sum) / n;
        return std::max(0.0F, of(square) / n - mean * mean);
      };
      constexpr float kWhole = 4 * kCell * kCell;
      const float activity = n < kWhole ? 0
                                        : compress_activity(std::sqrt(std::min(variance(first, first_squares),
                                                                               variance(second, second_squares))));
      const float detail = allowed.share * activity;
      const float most = allowed.times * allowed.times * (allowed.noise * allowed.noise + detail * detail);
      if (of(squares) / n > most) return false;
    }
  }
  return true;
}

// Computes chroma: a channel minus its luma.
void subtract(const Plane& channel, const Plane& luma, Plane& out) {
  out.size(channel.width(), channel.height());
  for (int y = 0; y < out.height(); ++y) {
    const float *c = channel.row(y), *l = luma.row(y);
    float* const to = out.row(y);
    for (int x = 0; x < out.width(); ++x) to[x] = c[x] - l[x];
  }
}

}  // namespace

const Colour& PairComparison::toned_source(const Tone& tone) const { return tone.is_near_identity() ? source : toned; }

void PairComparison::soften(const Tone& tone) {
  luma_of(target, luma_a);
  if (!tone.is_near_identity()) apply_tone(tone, source, toned);
  luma_of(toned_source(tone), luma_b);
  blur(luma_a, 0.8, soft_a);
  blur(luma_b, 0.8, soft_b);
}

// docs/design/detailed-check.md gives the reasons for the constants of this file.
bool PairComparison::is_quiet(const Affine& warp) {
  return all_within<4>(soft_a, moved_plane(soft_b, warp, soft_a), warp, soft_b, {kThresholds.soft, 1.5F, 0.06F});
}

void PairComparison::soften_colour(const Tone& tone) {
  Plane &small_luma = small_target[0], &small_channel = small_target[1];
  const auto soften_of = [&](const Colour& from, const Plane& luma, Colour& to) {
    halve(luma, small_luma);
    for (const std::size_t c : kColours) {
      halve(from[c], small_channel);
      subtract(small_channel, small_luma, scratch);
      blur(scratch, 0.75, to[c]);
    }
  };
  soften_of(target, luma_a, soft_target);
  soften_of(toned_source(tone), luma_b, soft_source);
}

bool PairComparison::is_quiet_in_colour(const Affine& warp) {
  const Affine half = warp.rescaled(0.5, 0.5, 0.5, 0.5);
  return std::all_of(kColours.begin(), kColours.end(), [&](std::size_t c) {
    return all_within<2>(soft_target[c], moved_plane(soft_source[c], half, soft_target[c]), half, soft_source[c],
                         {kThresholds.chroma, 2.5F, 0.2F});
  });
}

// Returns the plane itself, without a copy, where the warp moves nothing.
const Plane& PairComparison::moved_plane(const Plane& from, const Affine& warp, const Plane& onto) {
  if (warp.m == Affine().m && from.width() == onto.width() && from.height() == onto.height()) return from;
  Plane& moved_one = fitting.warped;
  moved_one.size(onto.width(), onto.height());
  warp_linear(from, warp, moved_one);
  return moved_one;
}

}  // namespace millrace::detailed_check
