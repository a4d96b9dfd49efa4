// Input: rasters of two pictures.
// Output: their registration, the tone between them, and the residual after both are applied.
// Never: used from outside this folder.
#pragma once

#include <optional>

#include "src/kernels/detailed_check/detailed_check_classify.h"
#include "src/kernels/detailed_check/detailed_check_focus.h"
#include "src/kernels/detailed_check/detailed_check_frames.h"
#include "src/kernels/detailed_check/detailed_check_windows.h"

namespace millrace::detailed_check {

// docs/design/detailed-check.md gives the reasons for the constants of this file.
inline constexpr std::int64_t kMinPixels = 400;

// A picture, and its copies at long sides of 512 and 256.
struct PreparedPicture::Planes {
  PictureRaster raster;
  Colour fit, small;
};

// Residual between two registered pictures.
struct Residual {
  ResidualFigures figures;
  double correlation = 0;  // coefficient of the lumas, with tone and sharpness made equal
  double sharpness = 0;    // distance of the filter from doing nothing, by its weights
  bool clean = true;       // true if the filter does little
  float excess = 0;        // largest ratio of a figure to its threshold, the drift left out

  // Ratio of the drift to its threshold.
  float drift_ratio() const { return figures.drift / (clean ? kThresholds.drift : kThresholds.drift_filtered); }
  // Raises the excess by `unresolved` where a picture was reduced, its source at `pitch`. A reduction may have lost the
  // detail that tells strokes apart, so the picture is no certain copy.
  void doubt_strokes(double pitch) {
    if (pitch < kThresholds.min_pitch_of_strokes) excess = std::max(excess, figures.unresolved);
  }
};

// Buffers and steps of a comparison, kept from pair to pair.
struct PairComparison {
  FitScratch fitting;
  SharpScratch sharpening;
  WindowScratch windows;
  FocusScratch focusing;
  WindowMaps maps;
  Sharpness sharp;
  Colour target, source, soft_target, soft_source, moved, toned;
  Colour small_target, small_source;
  Interleaved interleaved;
  Plane luma_a, luma_b, soft_a, soft_b, valid, inner, scratch;

  // Returns the best registration of several starts at a quarter of the size, refined at the size of the given rasters.
  std::optional<Affine> register_coarsely(const Colour& a, const Colour& b,
                                          const std::optional<std::array<float, 6>>& start);
  // Makes small_target and small_source, at half the size, for the next two functions.
  void shrink_both();
  Affine register_at_half(const Affine& warp);
  // Returns the tone that brings the source to the target's, fitted at half the size with linear interpolation. Returns
  // nothing where the pictures hardly overlap.
  std::optional<Tone> find_tone(const Affine& warp, const FramePair& frames);
  // Registers the source, with the tone applied first, to the target.
  Affine register_toned(const Affine& warp, const Tone& tone);
  // Resamples the source onto the target's raster in `moved`, marks the pixels that count in `valid` and returns their
  // number.
  std::int64_t move_source(const Affine& warp, const FramePair& frames);
  // Writes the lumas of the target and of the toned source to luma_a and luma_b, and blurred copies to soft_a and
  // soft_b.
  void soften(const Tone& tone);
  // Returns the toned source; call soften() first.
  const Colour& toned_source(const Tone& tone) const;
  // True if every window's residual of the lumas in soft_a and soft_b is within what measure() allows a pair without
  // noise of its own. The filter of measure() would only reduce that residual, so measure() would find nothing.
  bool is_quiet(const Affine& warp);
  // Prepares the same test for the colours of target and source, at half the size as in measure(). Call soften() first.
  void soften_colour(const Tone& tone);
  bool is_quiet_in_colour(const Affine& warp);
  // True if the picture of many pixels is an enlargement of the other: it shows nothing finer than the other does on
  // its raster. False where that cannot be seen. Overwrites the buffers of this struct.
  bool is_enlarged(const PictureRaster& few, const PictureRaster& many, const Affine& to_few);
  // Same test for a box of the raster of `many`: over the whole box, or in each of its cells.
  bool has_no_finer_detail(const PictureRaster& few, const PictureRaster& many, const Affine& to_few,
                           const PixelBox& box, bool all_over);
  // Measures the pair in `moved` and `valid`; `quiet` leaves the filter out. Returns nothing where too little can be
  // compared.
  std::optional<Residual> measure(const Tone& tone, bool quiet);
  // Same for a source that already lies on the target's raster, after soften().
  std::optional<Residual> measure_unmoved(const Tone& tone, bool quiet);

 private:
  const Plane& moved_plane(const Plane& from, const Affine& warp, const Plane& onto);
  std::optional<Residual> measure_inner(const Colour& there, bool quiet);
};

// Returns the map of the whole of a raster onto the whole of another.
Affine map_whole_raster(const Size& from, const Size& to);
// Returns the same warp between rasters of other sizes.
Affine between(const Affine& warp, const Size& from, const Size& to, const Size& new_from, const Size& new_to);

// Result for one tile at the target's own pitch, which shows detail that the comparison at 512 pixels does not resolve.
struct TileResidual {
  Residual measured;
  std::array<int, 4> place{};  // box in the target
};
struct TileComparison {
  // First tile that differs beyond doubt, else the tile that differs most; nothing where all tiles are quiet.
  std::optional<TileResidual> worst;
  FocusComparison::Verdict focus;  // verdict for target and source, over all tiles up to that one
  bool has_no_common_detail = false;
};
// Compares a region of the target tile by tile. `warp` maps the first raster to the second. Overwrites the buffers of
// `pair`.
TileComparison compare_tiles(PairComparison& pair, const PictureRaster& target, const PictureRaster& source,
                             const Affine& warp, const Tone& tone, const PixelBox& region);

}  // namespace millrace::detailed_check
