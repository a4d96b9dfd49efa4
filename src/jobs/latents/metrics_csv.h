// Input: the numbers of latents and videos.
// Output: metrics.csv: group, video, step, metric, value; one line per number that is not absent.
// Never: measures.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/latents/metric_table.h"

namespace millrace::latents {

// Returns the kind of output that metrics.csv is; an existing file is recognized by its beginning.
OutputKind metrics_kind();

// Writes lines in the order of the latents, then of kMetricNames. A video's trajectory follows its last latent, without
// a step. A value is the shortest text that gives the same float64. Throws Failure.
void write_metrics_csv(const MetricTable& table, const OutputTarget& csv, const LatentSet& set, RunContext& context);

}  // namespace millrace::latents
