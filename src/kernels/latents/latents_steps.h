// Input: values of sixteen channels side by side, about the channels' pilots.
// Output: the sums that metrics are made of.
// Never: used from outside this folder.
//
// A group is sixteen channels; channels that a latent does not have are zero. A plane is one frame of a group:
// [height, width, 16]. A pilot is a number near a channel's mean; differences from it lose nothing of what differs.
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

inline constexpr std::size_t kLanes = 16;

// Of fewer pixels float32 does not give correlations to 1e-7: then all is float64.
inline constexpr std::size_t kFewPixels = 1024;
inline bool is_few(int height, int width) {
  return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) < kFewPixels;
}

// A number a lane.
using Sum = std::array<double, kLanes>;

// A latent as it lies in memory: [channels, frames, height, width].
struct Source {
  const void* data = nullptr;
  bool half = false;  // float16; else float32
};
inline float value_of(const Source& source, std::size_t at) {
  return source.half ? of_half(static_cast<const std::uint16_t*>(source.data)[at])
                     : static_cast<const float*>(source.data)[at];
}

// Failure(usage) where the view is none of a latent of so many elements.
Source source_of(const ArrayView& latent, std::size_t elements);

// Of every channel: the mean of its first frame, of which float16 keeps eleven bits.
void find_pilots(const Source& source, const Shape& shape, std::span<float> pilots);

// Of one channel, over time.
struct TimeSums {
  double magnitude = 0;                 // of |x|, over all of it
  double temporal = 0;                  // of the variance over frames, over pixels
  std::vector<double> motion, product;  // of |y[f] - y[f - 1]|, y[f] y[f - 1], over pixels; [frames], 0 for frame 0

  // What it is summed in, of sixteen pixels side by side.
  struct Lanes {
    explicit Lanes(std::size_t frames);
    std::vector<Sum> motion, product;
  };
};
// Reads the channel once, each pixel through all frames. Where they are asked for, adds to `image`, [height, width],
// the sum of x over frames, and puts into `variances`, [height, width], the variance over frames.
void follow(const Source& source, const Shape& shape, int channel, float pilot, TimeSums::Lanes& lanes, TimeSums& sums,
            double* image, float* variances);

// Of `count` values from number `at` on, about a pilot, in float64.
struct PilotSums {
  double sum = 0, squares = 0;
};
PilotSums sums_about(const Source& source, std::size_t at, std::size_t count, double pilot);

// The values as float32.
void widen(const Source& source, std::size_t at, std::size_t count, float* out);

// One frame of a group less its pilots, as a plane.
void turn_plane(const Source& source, const Shape& shape, int group, int frame, const float* pilots, float* plane);

// Over one plane. Left, right, top and bottom are halves; where a side is odd, the middle belongs to neither.
struct PlaneSums {
  Sum sum{}, squares{};
  Sum left{}, left_squares{}, top{}, top_squares{};
  Sum first_column{}, first_column_squares{}, middle_column{}, middle_column_squares{}, last_column{},
      last_column_squares{};
  Sum first_row{}, first_row_squares{}, middle_row{}, middle_row_squares{}, last_row{}, last_row_squares{};
  // Products with the neighbour to the left, above; of the first column with the last, the first row with the last.
  Sum lag_x{}, lag_y{}, wrap_x{}, wrap_y{};
  // |differences| from these neighbours.
  Sum step_x{}, step_y{};
  // Products with the mirrored pixel; where a side is odd, as published too: the middle is the right half's first
  // column, or the lower half's first row, and the last one is left out.
  Sum mirror_x{}, mirror_y{}, published_x{}, published_y{};
};
void sum_plane(const float* plane, int height, int width, PlaneSums& out);

inline constexpr std::array<int, 3> kPatches = {4, 8, 16};

// Mean variance inside patches, and across them by place in the patch. Zero where a side is too small; one patch has no
// distinctiveness.
struct PatchSums {
  std::array<Sum, 3> variance{}, distinctiveness{};
};
// What they are means of, over all planes of a latent. A table for each lane: most values fall into few bins, and a
// count waits for the one before it in its bin.
struct PatchCounts {
  using OfLanes = std::array<Histogram, kLanes>;
  std::array<OfLanes, 3> variance{}, distinctiveness{};
};
// Floats of memory that it takes.
std::size_t patch_scratch(int height, int width);
// `channels` of the sixteen are counted, all are summed.
void sum_patches(const float* plane, int height, int width, std::size_t channels, float* scratch, PatchSums& out,
                 PatchCounts& counts);

// Products of channels of one plane of `a` with those of `b`: out[i * 16 + j], which is 0, becomes the sum of a_i b_j.
void add_products(const float* a, const float* b, int height, int width, double* out);

// Which terms a row is folded into, and what each bin adds them up with. Of an even width, columns half a width apart
// are added for even bins and subtracted for odd ones; then a column and its mirror are added for cosines and
// subtracted for sines, or the other way round.
template <typename T>
struct RowTransform {
  RowTransform(int width, int bins);

  // A sum over terms for each of its bins: re, or im, of bin first + i * step.
  struct Part {
    bool imaginary = false;
    std::size_t first = 0, step = 1, bins = 0, terms = 0;
    std::vector<T> weights;  // [bins, terms]
  };
  std::size_t width = 0, bins = 0, most_terms = 0;
  std::vector<Part> parts;  // cosines and sines of all bins; of an even width, of even bins and of odd ones
};

// A transform along columns, of factors 4, 2, 3, 5 and other primes.
template <typename T>
struct ColumnTransform {
  explicit ColumnTransform(int height);

  struct Step {
    std::size_t radix = 0, before = 0;  // `before`: the length that is done
    std::vector<T> twiddles;            // [before, radix - 1, 2]: cosine, sine
    std::vector<T> cosines, sines;      // of an odd radix: [(radix - 1) / 2, (radix - 1) / 2], of 2 pi k q / radix
  };
  std::size_t height = 0;
  std::vector<Step> steps;
};

// How the spectra of frames of one size are made; what is reported of them are radii from 1 to `radii`.
struct SpectrumPlan {
  SpectrumPlan(int height, int width);

  int height, width, radii;
  RowTransform<float> rows;
  ColumnTransform<float> columns;
  RowTransform<double> image_rows;
  ColumnTransform<double> image_columns;
  // Of each bin that is kept, [radii + 1, height], the radius that it belongs to; 0: to none that is reported.
  std::vector<std::uint16_t> rings;
  // Bins of a frame's power that are kept.
  std::size_t bins() const { return static_cast<std::size_t>((radii + 1) * height); }
  std::size_t scratch_floats() const;
  std::size_t scratch_doubles() const;
  std::size_t image_bins() const { return static_cast<std::size_t>((width / 2 + 1) * height); }
};
// power: [radii + 1, height, 16].
void add_spectrum(const SpectrumPlan& plan, const float* plane, float* scratch, float* power);
// The sum over lanes, [radii + 1, height], of bins whose radius is reported.
void total_power(const SpectrumPlan& plan, const float* power, double* out);
// power: [width / 2 + 1, height].
void image_spectrum(const SpectrumPlan& plan, const double* image, double* scratch, double* power);

}  // namespace millrace::latents
