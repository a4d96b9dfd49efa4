#include <algorithm>
#include <cmath>

#include "src/kernels/detailed_check/detailed_check_pair.h"

namespace millrace::detailed_check {
namespace {

// docs/design/detailed-check.md gives the reasons for the constants of this file.
constexpr int kTile = 512, kOverlap = 32;
// Share of a target pixel that may lie beyond the source's edge.
constexpr double kBeyond = 0.5;

// Number of tiles along a side, and the first pixel of each.
int tiles_of(int side) { return side <= kTile ? 1 : (side - kOverlap + kTile - kOverlap - 1) / (kTile - kOverlap); }
int begin_of(int tile, int tiles, int side) { return tiles == 1 ? 0 : tile * (side - kTile) / (tiles - 1); }

// Returns the source's areas under a box of the target, where the warp neither rotates nor leaves the source. Means
// over these areas put the source on the target's raster.
std::optional<Areas> areas_under(const Affine& warp, const PixelBox& box, const Size& source) {
  const int w = box.right - box.left, h = box.bottom - box.top;
  constexpr double kTurned = 0.1;  // pixels of the target, along a side
  if (warp.m[0] < 1 || warp.m[4] < 1) return std::nullopt;
  if (std::fabs(warp.m[1]) * h > kTurned * warp.m[0] || std::fabs(warp.m[3]) * w > kTurned * warp.m[4])
    return std::nullopt;
  const double x = box.left + 0.5 * (w - 1), y = box.top + 0.5 * (h - 1);
  const Areas out = {
      warp.u(x, y) + 0.5 - 0.5 * w * warp.m[0], warp.v(x, y) + 0.5 - 0.5 * h * warp.m[4], warp.m[0], warp.m[4], w, h};
  const double beyond_x = kBeyond * out.across, beyond_y = kBeyond * out.down;
  if (out.left < -beyond_x || out.top < -beyond_y || out.left + w * out.across > source.width + beyond_x ||
      out.top + h * out.down > source.height + beyond_y)
    return std::nullopt;
  return out;
}

// Returns the part of a region that the source covers, and a little more where it is rotated.
PixelBox covered(const Affine& warp, const PixelBox& region, const Size& source) {
  const Affine back = warp.inverse();
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const int x : {0, source.width}) {
    for (const int y : {0, source.height}) {
      const double u = back.u(x - 0.5, y - 0.5) + 0.5, v = back.v(x - 0.5, y - 0.5) + 0.5;
      left = std::min(left, u);
      right = std::max(right, u);
      top = std::min(top, v);
      bottom = std::max(bottom, v);
    }
  }
  constexpr double kWithin = 0.9 * kBeyond;
  const auto held = [](double v, int low, int high) { return static_cast<int>(std::clamp<double>(v, low, high)); };
  return {held(std::ceil(left - kWithin), region.left, region.right),
          held(std::ceil(top - kWithin), region.top, region.bottom),
          held(std::floor(right + kWithin), region.left, region.right),
          held(std::floor(bottom + kWithin), region.top, region.bottom)};
}

// Compares the tiles of a pair, one after the other.
class Tiles {
 public:
  Tiles(PairComparison& pair, const PictureRaster& target, const PictureRaster& source, const Affine& warp,
        const Tone& tone)
      : pair_(pair),
        target_(target),
        source_(source),
        warp_(warp),
        tone_(tone),
        pitch_(pitch_of(warp)),
        focus_(size_of(target)) {
    // Most copies show the whole of the other picture.
    const Affine onto = map_whole_raster(size_of(target), size_of(source));
    if (pitch_ < 1 || onto.is_whole_shift()) take_for_exact(onto);
    of_one_size_ =
        onto.is_whole_shift() && target.full_width == source.full_width && target.full_height == source.full_height;
  }

  // Returns the residual in a box of the target; nothing where it is small.
  std::optional<Residual> compare_tile(const PixelBox& box) {
    sample(target_, areas_of(box), pair_.target);
    if (of_one_size_ && !lies_upon()) check_noise(box);
    const std::optional<Areas> under = lies_under(box);
    if (under) {
      sample(source_, *under, pair_.source);
      soften();
      compare_focus(box, nullptr, exact_ || pitch_ <= kSmaller ? 0 : 1);
      if (is_settled()) return std::nullopt;
    }
    Affine here;
    if (!under || pitch_ == 1) {
      here = sample_around(box);
      soften();
      if (quiet(here)) return std::nullopt;
    }
    here = register_luma(pair_.soft_a, pair_.soft_b, here, 3, pair_.fitting).warp;
    if (!exact_ && pitch_ == 1 && find_shift(box, here)) return compare_tile(box);
    if (quiet(here)) return std::nullopt;
    if (pair_.move_source(here, FramePair()) < kMinPixels) return std::nullopt;
    auto measured = pair_.measure(tone_, false);
    if (measured) measured->doubt_strokes(pitch_);
    if (measured && !under) compare_focus(box, &pair_.valid, 1);
    return measured;
  }
  const FocusComparison& focus() const { return focus_; }

 private:
  // Pitch up to which all means over areas are equally sharp, because areas are wide. Areas of exactly one pixel are,
  // too.
  static constexpr double kSmaller = 0.8;

  // Returns the source's pitch; 1 where registration cannot tell it from the target's.
  static double pitch_of(const Affine& warp) {
    constexpr double kOnePitch = 1.004;
    return warp.scale() < kOnePitch ? 1.0 : 1 / warp.scale();
  }

  // Accepts a guess that registration at 512 pixels cannot tell from the warp: they differ by a fraction of a pixel
  // there.
  bool take_for_exact(const Affine& guess) {
    constexpr double kNear = 0.4;
    const double pixel = std::max(target_.width, target_.height) / static_cast<double>(kSide) * warp_.scale();
    if (max_corner_distance(warp_, guess, target_.width, target_.height) > kNear * pixel) return false;
    exact_ = guess;
    return true;
  }
  // Looks for a shift by whole pixels, from the registration of one tile.
  bool find_shift(const PixelBox& box, const Affine& here) {
    constexpr double kUnmoved = 0.25;
    const Affine moved = here.snapped(box.right - box.left, box.bottom - box.top, kUnmoved);
    return moved.is_whole_shift() &&
           take_for_exact(then(then(shift(-box.left, -box.top), moved), shift(around_.left, around_.top)));
  }

  // Source areas that are averaged onto the box's raster; nothing where the source has to be interpolated.
  std::optional<Areas> lies_under(const PixelBox& box) const {
    if (exact_) return areas_under(*exact_, box, size_of(source_));
    return pitch_ < 1 ? areas_under(warp_, box, size_of(source_)) : std::nullopt;
  }

  // Samples the source under the box and a little around it, at the target's pitch. Returns the map of the target's
  // pixels into it.
  Affine sample_around(const PixelBox& box) {
    around_ = warp_box(warp_, box, size_of(source_));
    sample(source_, areas_of(around_, pitch_), pair_.source);
    const Affine to_part = then(then(shift(box.left, box.top), warp_), shift(-around_.left, -around_.top));
    return between(to_part, size_of(pair_.target), {around_.right - around_.left, around_.bottom - around_.top},
                   size_of(pair_.target), size_of(pair_.source));
  }

  void soften() {
    pair_.soften(tone_);
    coloured_ = false;
  }
  bool quiet(const Affine& at) {
    if (!pair_.is_quiet(at)) return false;
    if (!coloured_) pair_.soften_colour(tone_);
    coloured_ = true;
    return pair_.is_quiet_in_colour(at);
  }
  // True if little residual is left without a better registration. Residuals of compression or sharpening are
  // recognized without a filter, too. A mark of three pixels in a softened copy may be lost in the filter.
  bool is_settled() {
    if (quiet(Affine())) return true;
    auto measured = pair_.measure_unmoved(tone_, pitch_ == 1);
    if (measured) measured->doubt_strokes(pitch_);
    return measured && measured->excess <= 1;
  }

  // True if the whole of one picture lies on the whole of the other, at one size.
  bool lies_upon() const { return exact_ && exact_->m == Affine().m; }
  // Compares the sharpness of both lumas on the target's raster.
  void compare_focus(const PixelBox& box, const Plane* valid, std::size_t finest) {
    add_places(box, find_focus_places(pair_.luma_a, pair_.luma_b, valid, finest, pair_.focusing),
               [&](const FocusComparison::Place& seen) {
                 return FocusComparison::Place{seen.first, seen.second, seen.unlike && lies_upon()};
               });
  }
  // Tests whether two pictures without detail share their noise. Registration finds any map for such pictures, so they
  // are compared with the whole on the whole.
  void check_noise(const PixelBox& box) {
    sample(source_, areas_of(box), pair_.source);
    luma_of(pair_.target, pair_.luma_a);
    luma_of(pair_.source, pair_.luma_b);
    add_places(box, find_focus_places(pair_.luma_a, pair_.luma_b, nullptr, 0, pair_.focusing),
               [](const FocusComparison::Place& seen) {
                 const float common = seen.first > 0 ? 1.0F : 0.0F;
                 return FocusComparison::Place{common, common, seen.unlike};
               });
  }
  template <class AddPlace>
  void add_places(const PixelBox& box, const FocusPlaces& seen, const AddPlace& add_place) {
    for (std::size_t i = 0; i < seen.places.size(); ++i) {
      const int at = static_cast<int>(i);
      focus_.add(box.left + at % seen.columns * FocusComparison::kPlace,
                 box.top + at / seen.columns * FocusComparison::kPlace, add_place(seen.places[i]));
    }
  }

  PairComparison& pair_;
  const PictureRaster &target_, &source_;
  const Affine& warp_;
  const Tone& tone_;
  const double pitch_;
  std::optional<Affine> exact_;  // map that is known to have no error of a fraction of a pixel
  PixelBox around_;
  bool of_one_size_ = false;  // true if neither is a crop of the other, or was reduced
  FocusComparison focus_;
  bool coloured_ = false;  // true if the colours are softened, too
};

}  // namespace

TileComparison compare_tiles(PairComparison& pair, const PictureRaster& target, const PictureRaster& source,
                             const Affine& warp, const Tone& tone, const PixelBox& both) {
  TileComparison out;
  std::optional<TileResidual>& worst = out.worst;
  const PixelBox region = covered(warp, both, size_of(source));
  const int w = region.right - region.left, h = region.bottom - region.top;
  constexpr int kNarrow = 32;
  if (w < kNarrow || h < kNarrow) return out;
  Tiles tiles(pair, target, source, warp, tone);
  const int across = tiles_of(w), down = tiles_of(h);
  for (int tile = 0; tile < across * down; ++tile) {
    const int left = region.left + begin_of(tile % across, across, w),
              top = region.top + begin_of(tile / across, down, h);
    const PixelBox box = {left, top, std::min(region.right, left + kTile), std::min(region.bottom, top + kTile)};
    const PixelBox other = warp_box(warp, box, size_of(source));
    if (other.right - other.left < kNarrow || other.bottom - other.top < kNarrow) continue;
    auto measured = tiles.compare_tile(box);
    if (!measured || (worst && measured->excess <= worst->measured.excess)) continue;
    std::array<int, 4> place = find_worst_place(measured->figures.excess);
    for (std::size_t i = 0; i < 4; ++i) place[i] += i % 2 == 0 ? box.left : box.top;
    worst = TileResidual{std::move(*measured), place};
    // An excess beyond doubt ends the search; among lesser ones the worst shows the place best.
    constexpr float kBeyondDoubt = 2;
    if (worst->measured.excess > kBeyondDoubt) break;
  }
  out.focus = tiles.focus().verdict();
  out.has_no_common_detail = tiles.focus().has_no_common_detail();
  return out;
}

}  // namespace millrace::detailed_check
