// Enters: arrays.h5, and the latents that it is of.
// Leaves: metrics.csv: group, video, step, metric, value, a line each that is not absent.
// Never: measures.
#pragma once

#include <cstdint>
#include <string>

#include "src/io/output/output.h"
#include "src/jobs/latents/inputs.h"

namespace millrace::latents {

// Tells from a file's beginning that it is one.
OutputKind csv_kind();

// In the order of the latents, then of kMetricNames; behind a video's last latent its trajectory, without a step;
// values as the shortest text that is the same float64. Returns how many latents have elements that are not finite.
// Throws Failure.
std::uint64_t write_metrics_csv(const std::string& arrays, const Output& csv, const LatentSet& set,
                                RunContext& context);

}  // namespace millrace::latents
