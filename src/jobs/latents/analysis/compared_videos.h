// Input: a number for each latent and metric.
// Output: the table by which groups are compared: a row per video; a column per metric and step, or per metric over all
//   steps.
// Never: lets a video into a column where its number would not be comparable: because of another number of frames, or
//   other steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/latents/metric_table.h"

namespace millrace::latents {

struct ComparisonColumn {
  std::size_t metric = 0;         // index into ComparedVideos::metrics
  std::optional<long long> step;  // empty for a column over all steps
};

struct ComparedVideos {
  std::vector<std::string_view> metrics;  // metrics of latents, then of trajectories; only those that any video has
  std::vector<ComparisonColumn> columns;  // by metric and step; from over_steps on, one per metric
  std::size_t over_steps = 0;
  std::vector<std::size_t> videos;     // indices into the set of the videos that have a number in any column
  std::vector<double> values;          // [videos, columns]; NaN where absent
  std::vector<long long> usual_steps;  // steps that most videos have; means over steps and trajectories use these
  std::vector<std::string> notes;      // messages for users about what is not compared
};

ComparedVideos select_compared_videos(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table);

}  // namespace millrace::latents
