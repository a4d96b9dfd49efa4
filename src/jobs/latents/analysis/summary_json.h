// Input: the results of the analysis.
// Output: summary.json: the measures of each group and the differences between groups, in at most a few hundred
//   kilobytes.
// Never: holds a number per latent (metrics.csv does) or every test (comparisons.csv does).
#pragma once

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/profiles.h"
#include "src/jobs/latents/analysis/separability.h"

namespace millrace::latents {

OutputKind summary_kind();

// Returns an object with these keys, named like those of the published analyser where it has them:
//   analysis_summary: what was analysed
//   groups: over a group's latents, by metric ("spatial": {"variance": {...}}): mean, std, min, q25, median, q75, max
//   group_comparisons: by pair and metric: over steps, and at the step of the smallest corrected p
//   separability: by step
//   significance: how many tests there are, and how many of them are below 0.05 by each correction.
Json summary_json(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                  const Analysis& analysis, const Profiles& profiles, const SeparabilityResult& separability);

}  // namespace millrace::latents
