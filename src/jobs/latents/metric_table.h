// Input: arrays.h5, and the latents that it was made from.
// Output: one number per latent and metric, and each video's trajectory, in memory.
// Never: measures, or holds a distribution.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/latents/latent_set.h"

namespace millrace::latents {

// Names of trajectory metrics, in the order in which they are written.
inline constexpr std::array<std::string_view, 7> kTrajectoryNames = {
    "trajectory.path",         "trajectory.linearity",     "trajectory.tortuosity", "trajectory.velocity",
    "trajectory.acceleration", "trajectory.turning_angle", "trajectory.half_life"};
std::array<double, kTrajectoryNames.size()> values_of(const Trajectory& trajectory);

struct MetricTable {
  std::vector<std::string_view> metrics;                // names of the chosen metrics
  std::vector<double> values;                           // [latents, metrics]; NaN where absent
  std::vector<std::optional<Trajectory>> trajectories;  // by video; empty if not chosen
  std::uint64_t not_finite = 0;                         // latents with elements that are NaN or infinite
  std::vector<std::size_t> without_numbers;             // indices of latents without a finite element

  double at(std::size_t latent, std::size_t metric) const { return values[latent * metrics.size() + metric]; }
};

// Throws Failure(conflict) if the file does not belong to these latents.
MetricTable read_metric_table(const std::string& arrays, const LatentsJobOptions& options, const LatentSet& set,
                              RunContext& context);

}  // namespace millrace::latents
