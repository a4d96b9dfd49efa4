// Input: values of sixteen channels side by side, about the channels' pilots.
// Output: the sums from which metrics are computed.
// Never: is used outside of this folder.
//
// A group is sixteen channels; channels that a latent does not have are zero. A plane is one frame of a group: [height,
// width, 16]. A pilot is a number near a channel's mean: differences from it lose no digits that matter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/latents/latents.h"
#include "src/kernels/latents/latents_half.h"
#include "src/memory/buffer.h"

namespace millrace::latents {

// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kLanes = 16;

// Number of pixels below which all sums are float64: float32 would not give correlations to 1e-7.
inline constexpr std::size_t kFewPixels = 1024;
inline bool has_few_pixels(int height, int width) {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) < kFewPixels;
}

// A number per lane.
using Sum = std::array<double, kLanes>;

// Latent in memory: [channels, frames, height, width].
struct LatentSource {
  const void* data = nullptr;
  bool half = false;  // float16; else float32
};
inline float value_of(const LatentSource& source, std::size_t at) {
  return source.half ? half_to_float(static_cast<const std::uint16_t*>(source.data)[at])
                     : static_cast<const float*>(source.data)[at];
}

// Throws Failure(usage) if the view is not a latent of so many elements.
LatentSource source_of(const ArrayView& latent, std::size_t elements);

// Computes the pilot of every channel: the mean of its first frame, rounded to eleven bits for float16.
void find_pilots(const LatentSource& source, const LatentShape& shape, std::span<float> pilots);

// Sums of one channel over time.
struct TimeSums {
  double magnitude = 0;  // sum of |x| over the channel
  double temporal = 0;   // sum over pixels of the variance over frames
  // Sums over pixels of |y[f] - y[f - 1]| and of y[f] y[f - 1]: [frames], 0 for frame 0.
  std::vector<double> motion, product;

  // Buffers for the sums, of sixteen pixels side by side.
  struct Lanes {
    explicit Lanes(std::size_t frames);
    std::vector<Sum> motion, product;
  };
};
// Reads the channel once, each pixel through all frames. Adds the sum of x over frames to `image`, [height, width], and
// writes the variance over frames to `variances`, [height, width]. Both may be null.
void sum_over_time(const LatentSource& source, const LatentShape& shape, int channel, float pilot,
                   TimeSums::Lanes& lanes, TimeSums& sums, double* image, float* variances);

// Sums of `count` values from index `at` on, about a pilot, in float64.
struct PilotSums {
  double sum = 0, squares = 0;
};
PilotSums sum_about_pilot(const LatentSource& source, std::size_t at, std::size_t count, double pilot);

// Converts values to float32.
void widen(const LatentSource& source, std::size_t at, std::size_t count, float* out);

// Writes one frame of a group, less its pilots, as a plane.
void gather_plane(const LatentSource& source, const LatentShape& shape, int group, int frame, const float* pilots,
                  float* plane);

// Sums over one plane. Left, right, top and bottom are halves; of an odd side, the middle belongs to neither half.
struct PlaneSums {
  Sum sum{}, squares{};
  Sum left{}, left_squares{}, top{}, top_squares{};
  Sum first_column{}, first_column_squares{}, middle_column{}, middle_column_squares{}, last_column{},
      last_column_squares{};
  Sum first_row{}, first_row_squares{}, middle_row{}, middle_row_squares{}, last_row{}, last_row_squares{};
  // Products with the neighbour to the left and above. Products of the first column with the last, and of the first row
  // with the last.
  Sum lag_x{}, lag_y{}, wrap_x{}, wrap_y{};
  // Absolute differences from these neighbours.
  Sum step_x{}, step_y{};
  // Products with the mirrored pixel. For an odd side there are published ones too: the middle is the right half's
  // first column, or the lower half's first row. The last one is left out.
  Sum mirror_x{}, mirror_y{}, published_x{}, published_y{};
};
void sum_plane(const float* plane, int height, int width, PlaneSums& out);

inline constexpr std::array<int, 3> kPatches = {4, 8, 16};

// Mean variance inside patches, and across them by place in the patch. Zero if a side is too small; a single patch has
// no distinctiveness.
struct PatchSums {
  std::array<Sum, 3> variance{}, distinctiveness{};
};
// Histograms of the values that are averaged, over all planes of a latent. Each lane has a table: most values fall into
// few bins, and a count waits for the one before it in its bin.
struct PatchCounts {
  using OfLanes = std::array<Histogram, kLanes>;
  std::array<OfLanes, 3> variance{}, distinctiveness{};
};
// Returns the number of floats that sum_patches() needs as `scratch`.
std::size_t patch_scratch(int height, int width);
// Sums all sixteen channels, and counts the first `channels` of them.
void sum_patches(const float* plane, int height, int width, std::size_t channels, float* scratch, PatchSums& out,
                 PatchCounts& counts);

// Computes products of the channels of planes `a` and `b`: out[i * 16 + j], which is 0, becomes the sum of a_i b_j.
void add_products(const float* a, const float* b, int height, int width, double* out);

// Plan of a row's transform: the terms that a row is folded into, and the weights of the terms in each bin. With an
// even width, columns half a width apart are added for even bins and subtracted for odd ones. Then a column and its
// mirror are added for cosines and subtracted for sines, or the other way round.
template <typename T>
struct RowTransform {
  RowTransform(int width, int bins);

  // Sums over terms for each of its bins: re, or im, of bin first + i * step.
  struct Part {
    bool imaginary = false;
    std::size_t first = 0, step = 1, bins = 0, terms = 0;
    std::vector<T> weights;  // [bins, terms]
  };
  std::size_t width = 0, bins = 0, most_terms = 0;
  std::vector<Part> parts;  // cosines and sines of all bins; with an even width, of even bins and of odd ones
};

// Plan of a transform along columns, by factors 4, 2, 3, 5 and other primes.
template <typename T>
struct ColumnTransform {
  explicit ColumnTransform(int height);

  struct Step {
    std::size_t radix = 0, before = 0;  // `before`: length of the transforms so far
    std::vector<T> twiddles;            // [before, radix - 1, 2]: cosine, sine
    std::vector<T> cosines, sines;      // of an odd radix: [(radix - 1) / 2, (radix - 1) / 2], of 2 pi k q / radix
  };
  std::size_t height = 0;
  std::vector<Step> steps;
};

// Plan for the spectra of frames of one size. Reported radii are from 1 to `radii`.
struct SpectrumPlan {
  SpectrumPlan(int height, int width);

  int height, width, radii;
  RowTransform<float> rows;
  ColumnTransform<float> columns;
  RowTransform<double> image_rows;
  ColumnTransform<double> image_columns;
  // Radius of each kept bin, [radii + 1, height]; 0 if it is not reported.
  std::vector<std::uint16_t> rings;
  // Number of kept bins of a frame's power.
  std::size_t bins() const { return static_cast<std::size_t>((radii + 1) * height); }
  std::size_t scratch_floats() const;
  std::size_t scratch_doubles() const;
  std::size_t image_bins() const { return static_cast<std::size_t>((width / 2 + 1) * height); }
};
// Adds the power of a plane to `power`: [radii + 1, height, 16].
void add_spectrum(const SpectrumPlan& plan, const float* plane, float* scratch, float* power);
// Sums up lanes, [radii + 1, height], of bins whose radius is reported.
void total_power(const SpectrumPlan& plan, const float* power, double* out);
// Computes the power of an image: [width / 2 + 1, height].
void image_spectrum(const SpectrumPlan& plan, const double* image, double* scratch, double* power);

}  // namespace millrace::latents
