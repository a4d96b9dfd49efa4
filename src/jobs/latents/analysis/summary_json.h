// Input: all that was found.
// Output: summary.json: what a group's latents measure, what groups differ by, in at most a few hundred kilobytes.
// Never: holds a number a latent: metrics.csv does; or every test: comparisons.csv does.
#pragma once

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/profiles.h"
#include "src/jobs/latents/analysis/separate.h"

namespace millrace::latents {

OutputKind summary_kind();

// Keys, with those of the published analyser where it has them:
//   analysis_summary: what was analysed
//   groups: by group and metric ("spatial": {"variance": {...}}): mean, std, min, q25, median, q75, max over its
//   latents group_comparisons: by pair and metric: over steps, and at the step of the least corrected p separability:
//   by step significance: how many tests, and how many of them are below 0.05 by each correction
Json summary_json(const Options& options, const LatentSet& set, const MetricTable& table, const Analysis& analysis,
                  const Profiles& profiles, const SeparabilityOfSteps& separability);

}  // namespace millrace::latents
