#include <algorithm>
#include <array>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {
namespace {

// Red and blue say what luma does not.
constexpr std::array<std::size_t, 2> kColours = {0, 2};

// What a window may leave: some noise, and a share of the detail that both show there.
struct Allowed {
  float times, noise, share;
};

// Of two planes, `moved` by the warp onto the target's raster.
bool all_within(const Plane& target, const Plane& moved, const Affine& warp, const Plane& source,
                const Allowed& allowed) {
  constexpr int kCell = 4;
  enum { squares, first, first_squares, second, second_squares, counted, kSums };
  const int w = target.width(), cells_x = w / kCell, cells_y = target.height() / kCell;
  const auto wide = static_cast<std::size_t>(w);
  std::vector<float> columns(kSums * wide), cells(2 * kSums * static_cast<std::size_t>(cells_x));
  for (int cy = 0; cy < cells_y; ++cy) {
    std::fill(columns.begin(), columns.end(), 0.0F);
    for (int y = cy * kCell; y < (cy + 1) * kCell; ++y) {
      const Span1 in = inside_row(warp, y, w, source.width(), source.height(), 0.5);
      const float *a = target.row(y), *b = moved.row(y);
      const auto add = [&](int sum, const auto& value) {
        float* const to = columns.data() + static_cast<std::size_t>(sum) * wide;
        for (int x = in.begin; x < in.end; ++x) to[x] += value(x);
      };
      add(squares, [&](int x) { return (a[x] - b[x]) * (a[x] - b[x]); });
      add(first, [&](int x) { return a[x]; });
      add(first_squares, [&](int x) { return a[x] * a[x]; });
      add(second, [&](int x) { return b[x]; });
      add(second_squares, [&](int x) { return b[x] * b[x]; });
      add(counted, [&](int) { return 1.0F; });
    }
    const auto cell = [&](int row, int sum, int x) -> float& {
      return cells[static_cast<std::size_t>(((row % 2) * kSums + sum) * cells_x + x)];
    };
    for (int sum = 0; sum < kSums; ++sum) {
      const float* c = columns.data() + static_cast<std::size_t>(sum) * wide;
      for (int x = 0; x < cells_x; ++x, c += kCell) cell(cy, sum, x) = (c[0] + c[1]) + (c[2] + c[3]);
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
      const float activity =
          n < kWhole ? 0
                     : saturated(std::sqrt(std::min(variance(first, first_squares), variance(second, second_squares))));
      const float detail = allowed.share * activity;
      const float most = allowed.times * allowed.times * (allowed.noise * allowed.noise + detail * detail);
      if (of(squares) / n > most) return false;
    }
  }
  return true;
}

// What of a channel is not luma.
void subtract(const Plane& channel, const Plane& luma, Plane& out) {
  out.size(channel.width(), channel.height());
  for (int y = 0; y < out.height(); ++y) {
    const float *c = channel.row(y), *l = luma.row(y);
    float* const to = out.row(y);
    for (int x = 0; x < out.width(); ++x) to[x] = c[x] - l[x];
  }
}

}  // namespace

void Pair::soften(const Tone& tone) {
  luma_of(target, luma_a);
  if (tone.does_little()) {
    luma_of(source, luma_b);
  } else {
    toned_luma_of(tone, source, luma_b);
  }
  blur(luma_a, 0.8, soft_a);
  blur(luma_b, 0.8, soft_b);
}

bool Pair::is_quiet(const Affine& warp) {
  Plane& moved_luma = fitting.warped;
  moved_luma.size(soft_a.width(), soft_a.height());
  warp_linear(soft_b, warp, moved_luma);
  return all_within(soft_a, moved_luma, warp, soft_b, {Figures::kSoft, 1.5F, 0.06F});
}

void Pair::soften_colour(const Tone& tone) {
  const bool little = tone.does_little();
  if (!little) apply_tone(tone, source, toned);
  for (const std::size_t c : kColours) {
    subtract(target[c], luma_a, scratch);
    blur(scratch, 0.8, soft_target[c]);
    subtract((little ? source : toned)[c], luma_b, scratch);
    blur(scratch, 0.8, soft_source[c]);
  }
}

bool Pair::is_quiet_in_colour(const Affine& warp) {
  for (const std::size_t c : kColours) {
    Plane& moved_chroma = fitting.warped;
    moved_chroma.size(soft_target[c].width(), soft_target[c].height());
    warp_linear(soft_source[c], warp, moved_chroma);
    if (!all_within(soft_target[c], moved_chroma, warp, soft_source[c], {Figures::kChroma, 2.5F, 0.2F})) return false;
  }
  return true;
}

}  // namespace millrace::closelook
