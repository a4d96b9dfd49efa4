// Input: arrays.h5, and the latents that it is of.
// Output: the one number a latent and metric, and each video's trajectory, in memory.
// Never: measures, or holds a distribution.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/latents/inputs.h"

namespace millrace::latents {

// In the order in which they are written.
inline constexpr std::array<std::string_view, 7> kTrajectoryNames = {
    "trajectory.path",         "trajectory.linearity",     "trajectory.tortuosity", "trajectory.velocity",
    "trajectory.acceleration", "trajectory.turning_angle", "trajectory.half_life"};
std::array<double, kTrajectoryNames.size()> values_of(const Trajectory& trajectory);

struct MetricTable {
  std::vector<std::string_view> metrics;                // those that were chosen
  std::vector<double> values;                           // [latents, metrics]; NaN where absent
  std::vector<std::optional<Trajectory>> trajectories;  // of each video; empty where none was asked for
  std::uint64_t not_finite = 0;                         // latents with elements that are NaN or infinite
  std::vector<std::size_t> without_numbers;             // of these, those of which no element is finite

  double at(std::size_t latent, std::size_t metric) const { return values[latent * metrics.size() + metric]; }
};

// Failure(conflict) where the file is not of these latents.
MetricTable read_metric_table(const std::string& arrays, const Options& options, const LatentSet& set,
                              RunContext& context);

}  // namespace millrace::latents
