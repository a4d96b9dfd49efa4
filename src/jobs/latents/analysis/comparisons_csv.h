// Input: what pairs of groups differ by.
// Output: comparisons.csv: a line a pair of groups, metric and step.
// Never: leaves a line out because it finds nothing.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/latents/analysis/analysis.h"

namespace millrace::latents {

OutputKind comparisons_kind();

// By pair, metric and step; a metric's line over all steps, which has no step, behind those of its steps. A number that
// is not defined is empty; `reason` says why there is no p. Throws Failure.
void write_comparisons_csv(const Analysis& analysis, const Output& csv, RunContext& context);

}  // namespace millrace::latents
