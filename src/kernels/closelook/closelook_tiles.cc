#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {
namespace {

constexpr int kTile = 512, kOverlap = 64;

// How many tiles along a side, and where each begins.
int tiles_of(int side) { return side <= kTile ? 1 : (side - kOverlap + kTile - kOverlap - 1) / (kTile - kOverlap); }
int begin_of(int tile, int tiles, int side) { return tiles == 1 ? 0 : tile * (side - kTile) / (tiles - 1); }

}  // namespace

std::optional<Tile> look_at_tiles(Pair& pair, const Raster& target, const Raster& source, const Affine& warp,
                                  const Tone& tone, const Box& region) {
  std::optional<Tile> worst;
  const int w = region.right - region.left, h = region.bottom - region.top;
  constexpr int kNarrow = 32;
  if (w < kNarrow || h < kNarrow) return worst;
  // Of one pitch, as far as registration can tell.
  constexpr double kOnePitch = 1.004;
  const double pitch = warp.scale() < kOnePitch ? 1.0 : 1 / warp.scale();
  Raster part;
  const int across = tiles_of(w), down = tiles_of(h);
  for (int tile = 0; tile < across * down; ++tile) {
    const int left = region.left + begin_of(tile % across, across, w),
              top = region.top + begin_of(tile / across, down, h);
    const Box box = {left, top, std::min(region.right, left + kTile), std::min(region.bottom, top + kTile)};
    const Box other = box_under(warp, box, size_of(source));
    if (other.right - other.left < kNarrow || other.bottom - other.top < kNarrow) continue;
    crop(target, box, part);
    planes_of(part, pair.target);
    crop(source, other, part);
    shrink(part, pitch, pair.source);
    const Affine to_part = then(then(shift(box.left, box.top), warp), shift(-other.left, -other.top));
    Affine here = between(to_part, size_of(pair.target), size_of(part), size_of(pair.target), size_of(pair.source));
    pair.soften(tone);
    bool coloured = false;
    const auto quiet = [&](const Affine& at) {
      if (!pair.is_quiet(at)) return false;
      if (!coloured) pair.soften_colour(tone);
      coloured = true;
      return pair.is_quiet_in_colour(at);
    };
    // Most copies have not moved: what registration says is a part of a pixel.
    constexpr double kUnmoved = 0.25;
    const Affine unmoved = here.snapped(pair.target[0].width(), pair.target[0].height(), kUnmoved);
    if (unmoved.is_whole_shift() && quiet(unmoved)) continue;
    if (quiet(here)) continue;
    here = register_luma(pair.soft_a, pair.soft_b, here, 3, pair.fitting).warp;
    if (quiet(here)) continue;
    if (pair.move_source(here, Frames()) < kFewestPixels) continue;
    auto measured = pair.measure(tone, false);
    if (measured) measured->doubt_strokes(pitch);
    if (!measured || (worst && measured->excess <= worst->measured.excess)) continue;
    std::array<int, 4> place = place_of(measured->figures.excess);
    for (std::size_t i = 0; i < 4; ++i) place[i] += i % 2 == 0 ? box.left : box.top;
    worst = Tile{std::move(*measured), place};
    // Beyond doubt; of lesser ones the worst shows the place best.
    constexpr float kBeyondDoubt = 2;
    if (worst->measured.excess > kBeyondDoubt) break;
  }
  return worst;
}

}  // namespace millrace::closelook
