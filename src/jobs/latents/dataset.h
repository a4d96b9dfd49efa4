// Input: the measures of a latent.
// Output: a row of the dataset that arrays.h5 holds.
// Never: computes a metric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/jobs/latents/latent_set.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// Name of an attribute that every output of the job has.
inline constexpr const char* kMark = "latents";
// Name of the array of all numbers: [latents, metrics], of the chosen metrics; NaN where one is absent. The attribute
// "metrics" has their names.
inline constexpr const char* kMetricsArray = "metrics";

// Name of an array [latents, 4] of float64: the numbers of Step, and in a video's last row the distance from its first
// latent. NaN where there is none.
inline constexpr const char* kTrajectoryArray = "trajectory";
inline constexpr std::size_t kTrajectoryColumns = 4;

// Values that a metric averages: an array of [outer, inner]. A latent may have fewer inner values.
struct Distribution {
  std::string name;
  const std::vector<double>& (*of)(const Measures& measures);
  std::uint64_t outer, inner;
  std::vector<Metric> metrics;  // the array is written if any of these is chosen
};

// Returns the distributions of the chosen metrics, for latents of up to these sides.
std::vector<Distribution> distributions(const ChosenMetrics& chosen, const LatentShape& most);

// Histogram of the values that a patch distribution averages: [OctaveBins::kCount] of uint32, over all frames and
// channels.
struct PatchHistogram {
  std::string name;
  std::size_t size;  // size of patches: 0 is 4, 1 is 8, 2 is 16
  std::array<Histogram, 3> Measures::*of;
};
std::vector<PatchHistogram> patch_histograms(const ChosenMetrics& chosen, const LatentShape& most);

// Arrays: `metrics` and `trajectory` are float64. Distributions are float32; those by frame are as long as the longest
// video, with NaN behind a shorter one's end. Histograms are uint32; the attribute "histogram_edges" has the edges of
// their bins. `not_finite` (uint64) counts elements that are NaN or infinite. `index` has the columns group, video,
// step and frames.
DatasetSpec make_dataset_spec(const LatentsJobOptions& options, const LatentSet& set);

// Appends rows of that dataset.
class LatentRowWriter {
 public:
  LatentRowWriter(const LatentsJobOptions& options, const LatentSet& set);
  // Appends the row of a latent. `end_to_end` is the distance from the video's first latent, if this is the last one;
  // else NaN.
  void append(const LatentFile& latent, const Measures& measures, const Step& step, double end_to_end,
              RowBlock& block) const;

 private:
  const LatentSet& set_;
  const ChosenMetrics chosen_;
  const std::vector<Distribution> distributions_;
  const std::vector<PatchHistogram> histograms_;
};

}  // namespace millrace::latents
