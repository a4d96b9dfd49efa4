// Input: sums over planes, channels and spectra; counts of values in bins. The CPU's, or a device's.
// Output: numbers and distributions.
// Never: used from outside this folder.
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

// A sum of products of two sides about their means, and of each with itself.
struct Side {
  double sum = 0, squares = 0;  // about a pilot
};
// A mean of correlations: 0 where a side is constant, absent where no pair has two that are not.
class MeanCorrelation {
 public:
  // Returns r, or 0. Deviations that are lost in the rounding of `squares` are none.
  double add(double product, const Side& a, const Side& b, double n);
  double mean() const { return defined_ ? sum_ / static_cast<double>(count_) : Measures::kAbsent; }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
  bool defined_ = false;
};
// Squared deviations from the mean; 0 where they are lost in rounding.
double deviations(const Side& side, double n);

// What is known of a latent when all of it has been read.
struct Sums {
  explicit Sums(const Shape& shape);
  void clear();

  Shape shape;
  std::size_t groups;
  std::vector<float> pilots;       // [channels], then zeros up to a whole group
  std::vector<TimeSums> times;     // [channels]
  std::vector<PlaneSums> planes;   // [groups, frames]
  std::vector<PatchSums> patches;  // [groups, frames]
  PatchCounts patch_counts;
  std::vector<double> products;        // [frames, groups, groups, 16, 16], of groups a <= b
  std::vector<double> cosines, sines;  // [frames], of parts of a turn
  std::vector<double> image;           // [height, width], the sum over channels and frames
  std::vector<double> image_power;
  std::vector<double> power;  // [radii + 1, height], of all channels; only of bins whose radius is reported

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
  // Of channels a <= b in one frame, about their pilots.
  double product(std::size_t a, std::size_t b, std::size_t frame) const {
    const std::size_t at = (frame * groups + a / kLanes) * groups + b / kLanes;
    return products[(at * kLanes + a % kLanes) * kLanes + b % kLanes];
  }
};

// Parts that not every metric needs.
struct Wanted {
  explicit Wanted(const Selection& metrics);

  bool patches, products, spectra, flatness, density, mutual, mutual_published;
};

// Channels that densities and mutual information are of.
inline constexpr std::size_t kCounted = 4;
inline std::size_t counted_channels(const Shape& shape) {
  return std::min(kCounted, static_cast<std::size_t>(shape.channels));
}
// How many values lie in which bins; what is not wanted is not looked at.
struct Binned {
  std::vector<Counts> density;  // [counted channels, frames]
  PairTables even, published;   // of bins of one width; as published
};

// Of a latent that is not finite, or whose sums are not.
Measures not_measured(const Source& source, std::size_t elements);

// Of moments, patches and time; of products, spectra and bins. Spectra are looked at after space: a constant has none.
void finish_space(const Sums& sums, Measures& out);
void finish_patches(const Sums& sums, Measures& out);
void finish_time(const Sums& sums, Measures& out);
void finish_channels(const Sums& sums, Measures& out);
void finish_products(const Sums& sums, Measures& out);
void finish_flatness(const Sums& sums, const SpectrumPlan& plan, Measures& out);
void finish_spectra(const Sums& sums, const SpectrumPlan& plan, Measures& out);
void finish_bins(const Sums& sums, const Binned& binned, const Wanted& wanted, const CountLogs& logs, Measures& out);
// All of them: what is not wanted is absent, and every NaN is the same one.
void finish(const Sums& sums, const Binned& binned, const SpectrumPlan& plan, const Selection& metrics,
            const CountLogs& logs, Measures& out);

}  // namespace millrace::latents
