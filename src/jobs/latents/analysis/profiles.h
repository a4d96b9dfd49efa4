// Input: arrays.h5.
// Output: what a group's latents look like on average: by channel, by pair of channels, by scale.
// Never: tests anything.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/inputs.h"

namespace millrace::latents {

// Over all latents of a group that have it; T-deviations over them. Empty where it was not measured.
struct GroupProfile {
  std::vector<double> channel_variance, channel_variance_deviation;  // [channels]
  std::vector<double> channel_correlation;                           // [channels (channels - 1) / 2]
  std::vector<double> spectrum, spectrum_variance;                   // by radius, from 1
  std::vector<std::vector<double>> spectra;                          // of each of Profiles::spectrum_steps
};

struct Profiles {
  std::vector<GroupProfile> groups;
  std::vector<long long> spectrum_steps;  // the first, the middle one and the last of all steps
};

// Throws Failure.
Profiles profiles_of(const std::string& arrays, const Options& options, const LatentSet& set, RunContext& context);

}  // namespace millrace::latents
