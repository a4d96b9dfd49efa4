// Input: arrays.h5.
// Output: averages over each group's latents: by channel, by pair of channels, by spatial scale.
// Never: tests a difference.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/latent_set.h"

namespace millrace::latents {

// Means, sample deviations and variances over all latents of a group that have the measure. Empty where it was not
// measured.
struct GroupProfile {
  std::vector<double> channel_variance, channel_variance_deviation;  // [channels]
  std::vector<double> channel_correlation;                           // [channels (channels - 1) / 2]
  std::vector<double> spectrum, spectrum_variance;                   // [radii], from radius 1
  std::vector<std::vector<double>> spectra;  // [spectrum steps, radii]: a mean for each of Profiles::spectrum_steps
};

struct Profiles {
  std::vector<GroupProfile> groups;
  std::vector<long long> spectrum_steps;  // the first, the middle and the last of all steps
};

// Throws Failure.
Profiles read_profiles(const std::string& arrays, const LatentsJobOptions& options, const LatentSet& set,
                       RunContext& context);

}  // namespace millrace::latents
