// Input: figures that were measured of a registered pair, as numbers.
// Output: the kind of difference, and which of the two pictures shows more than the other.
// Never: reads a pixel, or depends on which picture came first.
#pragma once

#include <cstddef>

#include "src/kernels/detailed_check/detailed_check.h"

namespace millrace::detailed_check {

// Limits of the verdict. docs/design/detailed-check.md tells what each was tuned on.
struct Thresholds {
  // Residuals of a window over what noise and detail explain, for clean pairs: blurred by 1, plain, in chroma, and the
  // part that a local shift explains.
  float soft = 2.8F, plain = 4.2F, chroma = 2.1F, shift = 2.0F;
  // The same of pairs that a filter brought onto each other, which leaves more.
  float soft_filtered = 3.8F, shift_filtered = 3.3F;
  // Local shifts that registration leaves, in pixels: of clean pairs, and of pairs that are not. True copies drift by
  // 0.12 pixels at most, those that are not clean by 0.29. Views from a hand's breadth apart drift by 0.2 and more, and
  // by 0.34 where the movement is taken for a filter.
  float drift = 0.16F, drift_filtered = 0.32F;
  // A pair is clean if its filter's weights are less than this away from doing nothing, or change its detail by less.
  double min_filter = 0.9, min_filter_effect = 0.1;
  // Number of windows of 8 pixels that a verdict needs.
  std::size_t min_windows = 150;
  // A pair with residuals is altered, not different, if fewer windows than this share differ, and the lumas correlate
  // better than this.
  float max_altered_share = 0.25F, min_altered_correlation = 0.5F;
  // Correlation of the lumas that a copy has at least.
  float min_correlation = 0.93F;
  // Share of a picture outside the other from which it shows more. The edge of a frame mixes frame and picture, and is
  // no content.
  float max_outside = 0.004F, max_outside_framed = 0.015F;
  // A change of exposure: the factor of the curve, up or down, with the share of the change that the factor leaves; or
  // the rms change of the levels.
  double max_gain = 1.14, max_gain_rest = 0.4, max_tone = 33;
  // A pair whose excess is between 1 and `hopeless`, and whose map is this near to the map of whole onto whole, in
  // pixels, is tried again with that map. The second try counts if its excess is at most `plainly`.
  float hopeless = 4, plainly = 0.9F;
  double near_whole = 1.5;
  // Reduction of the source below which strokes that cannot be resolved are doubted.
  double min_pitch_of_strokes = 0.77;
};
inline constexpr Thresholds kThresholds{};

// Figures of a registered pair. The target is the picture with fewer pixels for the same content.
struct Evidence {
  std::size_t windows = 0;                        // windows that could be compared
  float excess = 0;                               // largest ratio of a figure to its threshold
  float residual_excess = 0;                      // the same without the drift
  float differing_share = 0;                      // share of the windows that differ, 0..1
  float correlation = 0;                          // of the lumas, -1..1
  double tone = 0;                                // rms change of the levels
  double gain = 1, gain_rest = 0;                 // factor of the exposure; share of the change that it leaves
  double target_outside = 0, source_outside = 0;  // share of each picture that the other does not show, 0..1
  bool has_target_frame = false, has_source_frame = false;
};
struct Classification {
  DifferenceKind kind = DifferenceKind::different;
  bool has_target_more = false, has_source_more = false;  // true if the picture shows content that the other lacks
};
Classification classify(const Evidence& evidence, const Thresholds& limits = kThresholds);

// Returns which picture the other contains, `first` and `second` in the order of compare(). `swapped`: the target is
// the second picture.
Containment containment_of(bool has_target_more, bool has_source_more, bool swapped);

}  // namespace millrace::detailed_check
