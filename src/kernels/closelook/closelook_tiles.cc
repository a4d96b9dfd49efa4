#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {
namespace {

constexpr int kTile = 512, kOverlap = 64;

// How many tiles along a side, and where each begins.
int tiles_of(int side) { return side <= kTile ? 1 : (side - kOverlap + kTile - kOverlap - 1) / (kTile - kOverlap); }
int begin_of(int tile, int tiles, int side) { return tiles == 1 ? 0 : tile * (side - kTile) / (tiles - 1); }

void crop(const Plane& from, const Box& box, Plane& to) {
  to.size(box.right - box.left, box.bottom - box.top);
  for (int y = box.top; y < box.bottom; ++y)
    std::copy_n(from.row(y) + box.left, box.right - box.left, to.row(y - box.top));
}
void crop(const Colour& from, const Box& box, Colour& to) {
  for (std::size_t c = 0; c < 3; ++c) crop(from[c], box, to[c]);
}

// What a warp takes a box to, and a little around it.
Box box_under(const Affine& warp, const Box& box, const Plane& in) {
  constexpr double kAround = 12;
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const int x : {box.left, box.right}) {
    for (const int y : {box.top, box.bottom}) {
      left = std::min(left, warp.u(x, y));
      right = std::max(right, warp.u(x, y));
      top = std::min(top, warp.v(x, y));
      bottom = std::max(bottom, warp.v(x, y));
    }
  }
  return {static_cast<int>(std::clamp<double>(left - kAround, 0, in.width())),
          static_cast<int>(std::clamp<double>(top - kAround, 0, in.height())),
          static_cast<int>(std::clamp<double>(right + kAround, 0, in.width())),
          static_cast<int>(std::clamp<double>(bottom + kAround, 0, in.height()))};
}

}  // namespace

std::optional<Tile> look_at_tiles(Pair& pair, const Colour& target, const Colour& source, const Affine& warp,
                                  const Tone& tone, const Box& region) {
  std::optional<Tile> worst;
  const int w = region.right - region.left, h = region.bottom - region.top;
  constexpr int kNarrow = 32;
  if (w < kNarrow || h < kNarrow) return worst;
  luma_of(target, pair.luma_a);
  toned_luma_of(tone, source, pair.luma_b);
  Plane soft_target, soft_source;
  blur(pair.luma_a, 0.8, soft_target);
  blur(pair.luma_b, 0.8, soft_source);
  const int across = tiles_of(w), down = tiles_of(h);
  for (int tile = 0; tile < across * down; ++tile) {
    const int left = region.left + begin_of(tile % across, across, w),
              top = region.top + begin_of(tile / across, down, h);
    const Box box = {left, top, std::min(region.right, left + kTile), std::min(region.bottom, top + kTile)};
    const Box other = box_under(warp, box, source[0]);
    constexpr int kLeast = 32;
    if (other.right - other.left < kLeast || other.bottom - other.top < kLeast) continue;
    Affine to_tile, from_tile;
    to_tile.m = {1, 0, static_cast<double>(box.left), 0, 1, static_cast<double>(box.top)};
    from_tile.m = {1, 0, -static_cast<double>(other.left), 0, 1, -static_cast<double>(other.top)};
    Affine here = then(then(to_tile, warp), from_tile);
    crop(soft_target, box, pair.soft_a);
    crop(soft_source, other, pair.soft_b);
    if (pair.is_quiet(here)) continue;
    here = register_luma(pair.soft_a, pair.soft_b, here, 3, pair.fitting).warp;
    if (pair.is_quiet(here)) continue;
    crop(target, box, pair.target);
    crop(source, other, pair.source);
    if (pair.move_source(here, Frames()) < kFewestPixels) continue;
    auto measured = pair.measure(tone, false);
    if (!measured || (worst && measured->excess <= worst->measured.excess)) continue;
    std::array<int, 4> place = place_of(measured->figures.excess);
    for (std::size_t i = 0; i < 4; ++i) place[i] += i % 2 == 0 ? box.left : box.top;
    worst = Tile{std::move(*measured), place};
    if (worst->measured.excess > 1) break;
  }
  return worst;
}

}  // namespace millrace::closelook
