// Input: the numbers of latents and videos.
// Output: metrics.csv: group, video, step, metric, value, a line each that is not absent.
// Never: measures.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/latents/metric_table.h"

namespace millrace::latents {

// Tells from a file's beginning that it is one.
OutputKind csv_kind();

// In the order of the latents, then of kMetricNames; behind a video's last latent its trajectory, without a step;
// values as the shortest text that is the same float64. Throws Failure.
void write_metrics_csv(const MetricTable& table, const Output& csv, const LatentSet& set, RunContext& context);

}  // namespace millrace::latents
