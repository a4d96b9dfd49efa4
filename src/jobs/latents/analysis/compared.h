// Input: the one number a latent and metric.
// Output: the table that groups are compared by: a row a video, a column a metric and step, or a metric over steps.
// Never: lets a video into a column where its number would be of something else than the others': of another number of
//   frames, or over other steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jobs/latents/metric_table.h"

namespace millrace::latents {

struct Column {
  std::size_t metric = 0;         // of ComparedVideos::metrics
  std::optional<long long> step;  // none: over all steps
};

struct ComparedVideos {
  std::vector<std::string_view> metrics;  // of latents, then of trajectories; those that any video has
  std::vector<Column> columns;            // by metric and step; from over_steps on, a column a metric
  std::size_t over_steps = 0;
  std::vector<std::size_t> videos;     // of the set: those that have a number in any column
  std::vector<double> values;          // [videos, columns]; NaN where absent
  std::vector<long long> usual_steps;  // that most videos have; means over steps and trajectories are of these
  std::vector<std::string> notes;      // what is not compared, for a person
};

ComparedVideos compared_videos(const Options& options, const LatentSet& set, const MetricTable& table);

}  // namespace millrace::latents
