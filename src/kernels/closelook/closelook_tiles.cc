#include <algorithm>
#include <cmath>

#include "src/kernels/closelook/closelook_pair.h"

namespace millrace::closelook {
namespace {

constexpr int kTile = 512, kOverlap = 64;

// How many tiles along a side, and where each begins.
int tiles_of(int side) { return side <= kTile ? 1 : (side - kOverlap + kTile - kOverlap - 1) / (kTile - kOverlap); }
int begin_of(int tile, int tiles, int side) { return tiles == 1 ? 0 : tile * (side - kTile) / (tiles - 1); }

// The source's areas under a box of the target, where the warp neither turns nor leaves the source: brought there, the
// source lies on the target's raster.
std::optional<Areas> areas_under(const Affine& warp, const Box& box, const Size& source) {
  const int w = box.right - box.left, h = box.bottom - box.top;
  constexpr double kTurned = 0.1;  // of the target's pixels, along a side
  if (warp.m[0] < 1 || warp.m[4] < 1) return std::nullopt;
  if (std::fabs(warp.m[1]) * h > kTurned * warp.m[0] || std::fabs(warp.m[3]) * w > kTurned * warp.m[4])
    return std::nullopt;
  const double x = box.left + 0.5 * (w - 1), y = box.top + 0.5 * (h - 1);
  const Areas out = {
      warp.u(x, y) + 0.5 - 0.5 * w * warp.m[0], warp.v(x, y) + 0.5 - 0.5 * h * warp.m[4], warp.m[0], warp.m[4], w, h};
  constexpr double kBeyond = 0.5;
  if (out.left < -kBeyond || out.top < -kBeyond || out.left + w * out.across > source.width + kBeyond ||
      out.top + h * out.down > source.height + kBeyond)
    return std::nullopt;
  return out;
}

// What is left between target and source, tiles; nothing where that is little.
std::optional<Measured> look_at_tile(Pair& pair, const Tone& tone, Affine here, double pitch) {
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
  if (unmoved.is_whole_shift()) {
    if (quiet(unmoved)) return std::nullopt;
    // What compression or sharpening leaves is seen as such without a filter or a better place. A mark of three pixels
    // in a copy that was softened may be lost in it.
    if (pair.move_source(unmoved, Frames()) < kFewestPixels) return std::nullopt;
    auto measured = pair.measure(tone, pitch == 1);
    if (measured) measured->doubt_strokes(pitch);
    if (measured && measured->excess <= 1) return std::nullopt;
    pair.soften(tone);
    coloured = false;
  }
  if (!here.is_whole_shift() && quiet(here)) return std::nullopt;
  here = register_luma(pair.soft_a, pair.soft_b, here, 3, pair.fitting).warp;
  if (quiet(here)) return std::nullopt;
  if (pair.move_source(here, Frames()) < kFewestPixels) return std::nullopt;
  auto measured = pair.measure(tone, false);
  if (measured) measured->doubt_strokes(pitch);
  return measured;
}

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
  const int across = tiles_of(w), down = tiles_of(h);
  for (int tile = 0; tile < across * down; ++tile) {
    const int left = region.left + begin_of(tile % across, across, w),
              top = region.top + begin_of(tile / across, down, h);
    const Box box = {left, top, std::min(region.right, left + kTile), std::min(region.bottom, top + kTile)};
    const Box other = box_under(warp, box, size_of(source));
    if (other.right - other.left < kNarrow || other.bottom - other.top < kNarrow) continue;
    sample(target, areas_of(box), pair.target);
    Affine here;
    if (const auto under = pitch < 1 ? areas_under(warp, box, size_of(source)) : std::nullopt) {
      sample(source, *under, pair.source);
    } else {
      sample(source, areas_of(other, pitch), pair.source);
      const Affine to_part = then(then(shift(box.left, box.top), warp), shift(-other.left, -other.top));
      here = between(to_part, size_of(pair.target), {other.right - other.left, other.bottom - other.top},
                     size_of(pair.target), size_of(pair.source));
    }
    auto measured = look_at_tile(pair, tone, here, pitch);
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
