#include "src/jobs/latents/metric_table.h"

#include <algorithm>

#include "src/jobs/latents/arrays_file.h"
#include "src/jobs/latents/dataset.h"

namespace millrace::latents {
std::array<double, kTrajectoryNames.size()> values_of(const Trajectory& of) {
  return {of.path, of.linearity, of.tortuosity, of.velocity, of.acceleration, of.turning_angle, of.half_life};
}

MetricTable read_metric_table(const std::string& arrays, const LatentsJobOptions& options, const LatentSet& set,
                              RunContext& context) {
  MetricTable out;
  for (std::size_t k = 0; k < kMetricNames.size(); ++k)
    if (options.chosen.metrics[k]) out.metrics.push_back(kMetricNames[k]);
  ArraysFile file(arrays, set.files.size(), context);
  if (!out.metrics.empty()) out.values = file.read(kMetricsArray, {out.metrics.size()});
  const std::vector<double> counts = file.read("not_finite", {});
  out.not_finite =
      static_cast<std::uint64_t>(std::count_if(counts.begin(), counts.end(), [](double n) { return n > 0; }));
  for (std::size_t row = 0; row < counts.size(); ++row)
    if (counts[row] >= static_cast<double>(set.files[row].shape.elements())) out.without_numbers.push_back(row);
  if (!options.chosen.trajectory) return out;
  const std::vector<double> moves = file.read(kTrajectoryArray, {kTrajectoryColumns});
  std::vector<Step> steps;  // steps of one video
  for (std::size_t row = 0; row < set.files.size(); ++row) {
    const std::size_t video = set.files[row].video;
    const double* const move = moves.data() + row * kTrajectoryColumns;
    if (row > 0 && set.files[row - 1].video == video) steps.push_back({move[0], move[1], move[2]});
    if (row + 1 < set.files.size() && set.files[row + 1].video == video) continue;
    out.trajectories.resize(video + 1);
    out.trajectories[video] = measure_trajectory(steps, move[3]);
    steps.clear();
  }
  return out;
}

}  // namespace millrace::latents
