// Input: the results of the analysis.
// Output: the same results, in the form that the page shows.
// Never: measures or tests.
#pragma once

#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/profiles.h"
#include "src/jobs/latents/analysis/separability.h"
#include "src/jobs/latents/page.h"

namespace millrace::latents {

AnalysisView make_analysis_view(const LatentsJobOptions& options, const LatentSet& set, const MetricTable& table,
                                const Analysis& analysis, const Profiles& profiles,
                                const SeparabilityResult& separability);

}  // namespace millrace::latents
