// Input: what was measured of a latent.
// Output: a row of the dataset that arrays.h5 is.
// Never: computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/jobs/latents/inputs.h"
#include "src/kernels/latents/latents.h"

namespace millrace::latents {

// An attribute that every output of the job has.
inline constexpr const char* kMark = "latents";
// The array of all numbers a latent: [latents, metrics], of those that were chosen, NaN where one is absent; their
// names are the attribute "metrics".
inline constexpr const char* kMetricsArray = "metrics";

// [latents, 4] float64: what Step holds, and in a video's last row the distance from its first latent; NaN where there
// is none.
inline constexpr const char* kTrajectoryArray = "trajectory";
inline constexpr std::size_t kMoves = 4;

// What the numbers are means of: an array of [outer, inner], of which a latent may have fewer inner ones.
struct Distribution {
  std::string name;
  const std::vector<double>& (*of)(const Measures& measures);
  std::uint64_t outer, inner;
  std::vector<Metric> metrics;  // any of which brings it
};

// Of what was chosen, for latents of up to these sides.
std::vector<Distribution> distributions(const Chosen& chosen, const Shape& most);

// What those of patches are means of in turn: an array of [OctaveBins::kCount] uint32, over all frames and channels.
struct PatchHistogram {
  std::string name;
  std::size_t size;  // of patches: 0 is 4, 1 is 8, 2 is 16
  std::array<Histogram, 3> Measures::*of;
};
std::vector<PatchHistogram> patch_histograms(const Chosen& chosen, const Shape& most);

// `metrics` and `trajectory` float64; the distributions float32, those by frame as long as the longest video, NaN
// behind a shorter one's end; histograms uint32, whose bins' edges are the attribute "histogram_edges"; `not_finite`
// uint64, elements that are NaN or infinite; `index`, whose columns are group,
// video, step and frames.
DatasetSpec dataset_of(const Options& options, const LatentSet& set);

// Appends rows of that dataset.
class RowWriter {
 public:
  RowWriter(const Options& options, const LatentSet& set);
  // `end_to_end`: from the video's first latent to this one, where it is the last.
  void append(const LatentFile& latent, const Measures& measures, const Step& step, double end_to_end,
              RowBlock& block) const;

 private:
  const LatentSet& set_;
  const Chosen chosen_;
  const std::vector<Distribution> distributions_;
  const std::vector<PatchHistogram> histograms_;
};

}  // namespace millrace::latents
