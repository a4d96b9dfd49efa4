// Input: the results of the analysis.
// Output: the same results, in the form that the page shows.
// Never: measures or tests.
#pragma once

#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/profiles.h"
#include "src/jobs/latents/analysis/separate.h"
#include "src/jobs/latents/page.h"

namespace millrace::latents {

AnalysisView view_of(const Options& options, const LatentSet& set, const MetricTable& table, const Analysis& analysis,
                     const Profiles& profiles, const SeparabilityOfSteps& separability);

}  // namespace millrace::latents
