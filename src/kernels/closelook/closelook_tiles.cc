#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {
namespace {

constexpr int kTile = 512, kOverlap = 64;

// How many tiles along a side, and where each begins.
int tiles_of(int side) { return side <= kTile ? 1 : (side - kOverlap + kTile - kOverlap - 1) / (kTile - kOverlap); }
int begin_of(int tile, int tiles, int side) { return tiles == 1 ? 0 : tile * (side - kTile) / (tiles - 1); }

void crop(const Colour& from, const Box& box, Colour& to) {
  for (std::size_t c = 0; c < 3; ++c) {
    to[c].size(box.right - box.left, box.bottom - box.top);
    for (int y = box.top; y < box.bottom; ++y)
      std::copy_n(from[c].row(y) + box.left, box.right - box.left, to[c].row(y - box.top));
  }
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
  const int across = tiles_of(w), down = tiles_of(h);
  for (int ty = 0; ty < down; ++ty) {
    for (int tx = 0; tx < across; ++tx) {
      const int left = region.left + begin_of(tx, across, w), top = region.top + begin_of(ty, down, h);
      const Box box = {left, top, std::min(region.right, left + kTile), std::min(region.bottom, top + kTile)};
      const Box other = box_under(warp, box, source[0]);
      constexpr int kLeast = 32;
      if (other.right - other.left < kLeast || other.bottom - other.top < kLeast) continue;
      crop(target, box, pair.target);
      crop(source, other, pair.source);
      Affine to_tile, from_tile;
      to_tile.m = {1, 0, static_cast<double>(box.left), 0, 1, static_cast<double>(box.top)};
      from_tile.m = {1, 0, -static_cast<double>(other.left), 0, 1, -static_cast<double>(other.top)};
      const Affine here = pair.register_toned(then(then(to_tile, warp), from_tile), tone);
      Frames none(pair.target, pair.source, here);
      none.any = false;
      if (!pair.find_tone(here, none)) continue;
      auto measured = pair.measure(tone);
      if (!measured || (worst && measured->excess <= worst->measured.excess)) continue;
      std::array<int, 4> place = place_of(measured->figures.excess);
      for (std::size_t i = 0; i < 4; ++i) place[i] += i % 2 == 0 ? box.left : box.top;
      worst = Tile{std::move(*measured), place};
    }
  }
  return worst;
}

}  // namespace millrace::closelook
