// Input: rasters of two pictures.
// Output: where they meet, the tone between them, and what is left when both are taken away.
// Never: used from outside this folder.
#pragma once

#include <optional>

#include "src/kernels/closelook/closelook_focus.h"
#include "src/kernels/closelook/closelook_frames.h"
#include "src/kernels/closelook/closelook_windows.h"

namespace millrace::closelook {

inline constexpr std::int64_t kFewestPixels = 400;

// What is left between two registered pictures.
struct Measured {
  Figures figures;
  double correlation = 0;  // of the lumas, tone and sharpness made equal
  double sharpness = 0;    // how far the filter is from doing nothing, by its weights
  bool clean = true;       // the filter does little
  float excess = 0;        // the worst of the figures over its threshold, but for the drift

  // How far local shifts go, over what true copies show: by 0.12 at most, those that are not clean by 0.29. Views from
  // a hand's breadth apart drift by 0.2 and more, and by 0.34 where that is taken for a filter.
  float drifted() const {
    constexpr float kDrift = 0.16F, kDriftFiltered = 0.32F;
    return figures.drift / (clean ? kDrift : kDriftFiltered);
  }
  // A picture made smaller, its source at `pitch`, may have lost what tells strokes apart: that is no copy for sure.
  void doubt_strokes(double pitch) {
    constexpr double kSmaller = 0.77;
    if (pitch < kSmaller) excess = std::max(excess, figures.unresolved);
  }
};

// What comparing takes, kept from pair to pair.
struct Pair {
  FitScratch fitting;
  SharpScratch sharpening;
  WindowScratch windows;
  FocusScratch focusing;
  Maps maps;
  Sharpness sharp;
  Colour target, source, soft_target, soft_source, moved, toned;
  Colour small_target, small_source;
  Interleaved interleaved;
  Plane luma_a, luma_b, soft_a, soft_b, valid, inner, scratch;

  // The best of several starts at a quarter of the size, then at that of the given rasters.
  std::optional<Affine> register_coarsely(const Colour& a, const Colour& b,
                                          const std::optional<std::array<float, 6>>& start);
  // Target and source at half the size, for the next two.
  void shrink_both();
  Affine register_at_half(const Affine& warp);
  // The tone that brings the source to the target's: at half the size, in straight lines between pixels. Nothing where
  // they hardly meet.
  std::optional<Tone> find_tone(const Affine& warp, const Frames& frames);
  // Of target and source, the tone applied to the latter first.
  Affine register_toned(const Affine& warp, const Tone& tone);
  // The source on the target's raster in `moved`, and what of it counts in `valid`: how many pixels.
  std::int64_t move_source(const Affine& warp, const Frames& frames);
  // The lumas of target and source, the latter toned, in luma_a and luma_b, and softened in soft_a and soft_b.
  void soften(const Tone& tone);
  // The source, toned: after soften().
  const Colour& brought(const Tone& tone) const;
  // Of two lumas in soft_a and soft_b: whether every window's residual is within what measure() allows where it finds
  // no noise of the pair's own. Its filter would take some of that away, and it would find nothing.
  bool is_quiet(const Affine& warp);
  // The same of colours, at half the size as measure() does: those of target and source, after soften().
  void soften_colour(const Tone& tone);
  bool is_quiet_in_colour(const Affine& warp);
  // Whether the picture of many pixels is the other one enlarged: it shows nothing finer than that does when it is
  // brought to its raster. False where that cannot be seen. Uses up what lies in here.
  bool is_enlarged(const Raster& few, const Raster& many, const Affine& to_few);
  // The same of a part of the raster of many: all over it, or in each of its places.
  bool shows_nothing_finer(const Raster& few, const Raster& many, const Affine& to_few, const Box& box, bool all_over);
  // Of what lies in `moved` and `valid`; `quiet`: without a filter. Nothing where too little can be compared.
  std::optional<Measured> measure(const Tone& tone, bool quiet);
  // The same of a source that lies on the target's raster, after soften().
  std::optional<Measured> measure_unmoved(const Tone& tone, bool quiet);

 private:
  const Plane& moved_plane(const Plane& from, const Affine& warp, const Plane& onto);
  std::optional<Measured> measure_inner(const Colour& there, bool quiet);
};

// The whole of a raster on the whole of another.
Affine onto_whole(const Size& from, const Size& to);
// As a warp is between rasters of other sizes.
Affine between(const Affine& warp, const Size& from, const Size& to, const Size& new_from, const Size& new_to);

// The same in a tile of the target's own pitch: what is finer than the first look resolves.
struct Tile {
  Measured measured;
  std::array<int, 4> place{};  // in the target
};
struct Tiled {
  // The first that differs beyond doubt, else the one that differs most; nothing where all are quiet.
  std::optional<Tile> worst;
  Focus::Verdict focus;  // of target and source, in all tiles up to that
  bool shares_nothing = false;
};
// Looks at a region of the target. `warp` is that of the two rasters. Uses up what lies in `pair`.
Tiled look_at_tiles(Pair& pair, const Raster& target, const Raster& source, const Affine& warp, const Tone& tone,
                    const Box& region);

}  // namespace millrace::closelook
