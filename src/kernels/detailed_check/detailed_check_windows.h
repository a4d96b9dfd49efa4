// Input: the residual between two pictures after all effects of copying are removed.
// Output: maps of that residual in windows, and the figures that decide.
// Never: used from outside this folder.
#pragma once

#include <algorithm>
#include <optional>

#include "src/kernels/detailed_check/detailed_check_steps.h"

namespace millrace::detailed_check {

// Values of windows of 8 x 8 pixels, one every 4 pixels: each window has two by two cells.
// docs/design/detailed-check.md gives the reasons for the constants of this file.
inline constexpr int kCell = 4;
struct Grid {
  int columns = 0, rows = 0;
  std::vector<float> values;

  void size(int x, int y) {
    columns = x;
    rows = y;
    values.assign(static_cast<std::size_t>(x) * static_cast<std::size_t>(y), 0.0F);
  }
  float& at(int x, int y) {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)];
  }
  float at(int x, int y) const {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)];
  }
};

struct WindowMaps {
  Grid count;                    // valid pixels
  Grid plain, soft;              // rms of the residual, as it is and blurred by 1
  Grid activity;                 // rms of the detail that a blur by 4 removes, the smaller of both pictures'
  Grid chroma, chroma_activity;  // rms of the difference of chroma, and of the target's own detail in it
  Grid xx, xy, yy, xr, yr;       // means of products of slopes across and down, and with the blurred residual
};
struct WindowScratch {
  Plane soft, first, second, third, across, down, luma_target, luma_toned, half_valid;
  Colour half_target, half_toned;
  Grid grid;
};
void measure_windows(const Sharpness& fit, const Colour& toned, const Colour& target, const Plane& valid,
                     WindowScratch& scratch, WindowMaps& maps);

// Returns the activity, with a quarter of what exceeds 30. In the finest detail a mark is as hard to see as a shift,
// but it is there.
inline float compress_activity(float activity) {
  return std::min(activity, 30.0F) + 0.25F * std::max(activity - 30.0F, 0.0F);
}

struct ResidualFigures {
  float soft = 0, plain = 0, chroma = 0, shift = 0;
  // Largest figure of a window that stands out from the others, over its threshold. The second is set instead where
  // detail shows little noise, so that a filter may have caused the difference.
  float lone = 0, lone_in_little = 0;
  float unresolved = 0;  // residual beside detail everywhere, over its threshold: strokes cannot be told apart
  float drift = 0;       // length of local shifts, in pixels: the 75th percentile where slopes determine them
  float spread = 0;
  std::size_t windows = 0;  // number of valid windows
  Grid excess;              // largest figure of each window, over its threshold
};
// Returns nothing where too little is valid. Sets windows of the maps that are not valid to 0.
std::optional<ResidualFigures> compute_figures(WindowMaps& maps);

// Returns left, top, right, bottom in pixels of the area that belongs to the worst window.
std::array<int, 4> find_worst_place(const Grid& excess);

}  // namespace millrace::detailed_check
