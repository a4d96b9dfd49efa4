// Input: sums over planes, channels and spectra, and counts of values in bins; from the CPU or a device.
// Output: numbers and distributions.
// Never: is used outside of this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/kernels/latents/latents_counts.h"
#include "src/kernels/latents/latents_steps.h"

namespace millrace::latents {

// Sums of one side of a correlation: of its values and of their squares.
struct Side {
  double sum = 0, squares = 0;  // sums of differences from a pilot
};
// Mean of correlations. A correlation with a constant side is 0; the mean is absent if no pair has two sides that vary.
class MeanCorrelation {
 public:
  // Returns r, or 0. Deviations that are lost in the rounding of `squares` count as none.
  double add(double product, const Side& a, const Side& b, double n);
  double mean() const { return defined_ ? sum_ / static_cast<double>(count_) : Measures::kAbsent; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
  bool defined_ = false;
};
// Returns the squared deviations from the mean; 0 if they are lost in rounding.
double deviations(const Side& side, double n);

// Sums of a latent after all of it has been read.
struct Sums {
  explicit Sums(const LatentShape& shape);
  void clear();

  LatentShape shape;
  std::size_t groups;
  std::vector<float> pilots;       // [channels], then zeros up to a whole group
  std::vector<TimeSums> times;     // [channels]
  std::vector<PlaneSums> planes;   // [groups, frames]
  std::vector<PatchSums> patches;  // [groups, frames]
  PatchCounts patch_counts;
  std::vector<double> products;        // [frames, groups, groups, 16, 16], for groups a <= b
  std::vector<double> cosines, sines;  // [frames]: cosine and sine of each f / frames of a turn
  std::vector<double> image;           // [height, width], the sum over channels and frames
  std::vector<double> image_power;
  std::vector<double> power;  // [radii + 1, height], over all channels; only bins whose radius is reported

  const PlaneSums& plane(std::size_t channel, std::size_t frame) const {
    return planes[channel / kLanes * static_cast<std::size_t>(shape.frames) + frame];
  }
  const PatchSums& patch(std::size_t channel, std::size_t frame) const {
    return patches[channel / kLanes * static_cast<std::size_t>(shape.frames) + frame];
  }
  Side side(std::size_t channel, std::size_t frame) const {
    const PlaneSums& sums = plane(channel, frame);
    return {sums.sum[channel % kLanes], sums.squares[channel % kLanes]};
  }
  // Returns the product of channels a <= b in one frame, about their pilots.
  double product(std::size_t a, std::size_t b, std::size_t frame) const {
    const std::size_t at = (frame * groups + a / kLanes) * groups + b / kLanes;
    return products[(at * kLanes + a % kLanes) * kLanes + b % kLanes];
  }
};

// Parts of measuring that not every metric needs.
struct RequiredSums {
  explicit RequiredSums(const MetricSelection& metrics);

  bool patches, products, spectra, flatness, density, mutual, mutual_published;
};

// Number of channels used for densities and mutual information.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr std::size_t kCountedChannels = 4;
inline std::size_t counted_channels(const LatentShape& shape) {
  return std::min(kCountedChannels, static_cast<std::size_t>(shape.channels));
}
// Counts of values in bins; counts that are not wanted are not read.
struct BinCounts {
  std::vector<Counts> density;  // [counted channels, frames]
  PairTables even, published;   // edges of equal width; edges as published
};

// Returns the measures of a latent that is not finite, or whose sums are not.
Measures mark_not_finite(const LatentSource& source, std::size_t elements);

// Functions for moments, patches and time; for products, spectra and bins. Spectra come after space: a constant latent
// has none.
void finish_space(const Sums& sums, Measures& out);
void finish_patches(const Sums& sums, Measures& out);
void finish_time(const Sums& sums, Measures& out);
void finish_channels(const Sums& sums, Measures& out);
void finish_products(const Sums& sums, Measures& out);
void finish_flatness(const Sums& sums, const SpectrumPlan& plan, Measures& out);
void finish_spectra(const Sums& sums, const SpectrumPlan& plan, Measures& out);
void finish_bins(const Sums& sums, const BinCounts& binned, const RequiredSums& wanted, const CountLogs& logs,
                 Measures& out);
// Runs all of them. Metrics that are not wanted are absent, and every NaN is the same one.
void finish(const Sums& sums, const BinCounts& binned, const SpectrumPlan& plan, const MetricSelection& metrics,
            const CountLogs& logs, Measures& out);

}  // namespace millrace::latents
