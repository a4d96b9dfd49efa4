// Input: features of two thumbnails, ordered.
// Output: the steps of the comparison, for the files of this folder and their tests.
// Never: used from outside this folder.
#pragma once

#include <array>
#include <cstddef>

#include "src/kernels/similarity/similarity.h"

namespace millrace::similarity {

// Positions are relative: a picture spans [-0.5, 0.5] each way, whatever its raster. A point (x, y)
// of the first picture lies at (m0 + m1 x + m2 y, m3 + m4 x + m5 y) of the second.
struct Warp {
  std::array<float, 6> m = {0, 1, 0, 0, 0, 1};
};

// Result of step 2: the best of a few shifts and scales, and the correlation that it reached.
struct CoarseMatch {
  Warp warp;
  float correlation = 0;
};
CoarseMatch search_coarsely(const Features& a, const Features& b);
// Same search by definition: one hypothesis after the other, point by point.
CoarseMatch search_coarsely_reference(const Features& a, const Features& b);

template <int N>
using Plane = std::array<float, static_cast<std::size_t>(N) * N>;

// Halves a raster of N x N by means of 2 x 2.
template <int N>
void halve(const float* from, float* to) {
  for (int y = 0; y < N / 2; ++y) {
    const float* upper = from + 2 * y * N;
    const float* lower = upper + N;
    for (int x = 0; x < N / 2; ++x) {
      to[y * (N / 2) + x] = 0.25F * ((upper[2 * x] + upper[2 * x + 1]) + (lower[2 * x] + lower[2 * x + 1]));
    }
  }
}

// Middles of N samples of an axis, from -0.5 to 0.5.
template <int N>
inline constexpr std::array<float, static_cast<std::size_t>(N)> kMiddlesOf = [] {
  std::array<float, static_cast<std::size_t>(N)> out{};
  for (int i = 0; i < N; ++i)
    out[static_cast<std::size_t>(i)] = (static_cast<float>(i) + 0.5F) / static_cast<float>(N) - 0.5F;
  return out;
}();

// Edges of plain frames in both pictures. Along them a thumbnail mixes frame and picture, so pixels there say nothing
// and would mislead registration.
struct Frames {
  std::array<float, 4> a, b;  // Features::content
  bool any = false;
  Frames(const Features& first, const Features& second);
};

// Step 3. Moves `start` to where b fits a. `inverted` starts from a negative gain. `fit` is the share of a's variance
// that is explained, outliers weighted down. If the fit is below `least_fit`, the start may be returned instead of the
// warp. N is 32 or 64.
struct Registration {
  Warp warp;
  float fit = 0;
};
inline constexpr float kAnyFit = -1e9F;
template <int N>
Registration register_luma(const Plane<N>& a, const Plane<N>& b, const Frames& frames, const Warp& start, bool inverted,
                           int steps, float least_fit = kAnyFit);

// Samples `image` (N x N) at the warped positions of an N x N raster. `inside` is 1 where the image covers them, away
// from the edges of frames, and 0 elsewhere.
template <int N>
void resample(const Plane<N>& image, const Frames& frames, const Warp& warp, Plane<N>& values, Plane<N>& inside);

// Same for three images at once; edges of frames are not left out.
void resample_channels(const std::array<Plane<32>, 3>& images, const Warp& warp, std::array<Plane<32>, 3>& values,
                       Plane<32>& inside);

// Step 4. Tone curve: target = c0 + c1 v + c2 v^2 + c3 v^3 for v = source / 255, in levels, clamped to 0..255.
struct Tone {
  std::array<float, 4> c = {0, 255, 0, 0};
  bool from_second = true;  // the source is the second picture
  float distance = 0;       // rms of target - source over the source's values
  float contrast = 1;       // standard deviation of the target's levels over the source's

  float unheld(float level) const {
    const float v = level * (1.0F / 255.0F);
    return c[0] + v * (c[1] + v * (c[2] + v * c[3]));
  }
  float operator()(float level) const {
    const float t = unheld(level);
    return t < 0 ? 0 : (t > 255 ? 255 : t);
  }
};

// Colours of both pictures at 16 x 16 places of the first one. Every JPEG keeps colour at least this coarsely, and a
// recolouring shows at this resolution.
// docs/design/similarity.md gives the reasons for the constants of this file.
inline constexpr std::size_t kPlaces = 256;
struct Colours {
  std::array<std::array<float, kPlaces>, 3> a, b;
  std::array<float, kPlaces> inside;
};
Colours colours_at(const Features& a, const Features& b, const Warp& warp);
Tone fit_tone(const Colours& colours);

// Step 5. `movement` is a first guess of step 6, from slopes alone.
struct Structure {
  float structure = 0, correlation = 0, movement = 0;
  float beside_overlay = 0;  // structure, with the tiles of one picture's overlay weighing no more than the others
};
Structure compare_structure(const std::array<float, 4096>& a, const std::array<float, 4096>& b,
                            const std::array<float, 4096>& inside);

// Step 6, for pairs that passed everything else: tiles that fit badly are also searched for nearby.
struct Movement {
  float distance = 0;  // rms over the tiles, weighted by their slopes, in pixels of 64
  float share = 0;     // share of the slopes that lies in tiles that were found elsewhere
};
Movement find_movement(const std::array<float, 4096>& a, const std::array<float, 4096>& b,
                       const std::array<float, 4096>& inside);

// Step 7. Returns the difference of chroma after the tone curve; 0 is equal.
float chroma_difference(const Colours& colours, const Tone& tone);

// Sums in eight lanes that are added as a tree: one fixed order that compilers can vectorise.
struct Lanes {
  std::array<float, 8> lane{};
  float total() const {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
};

}  // namespace millrace::similarity
