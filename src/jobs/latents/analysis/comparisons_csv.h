// Input: the test results of pairs of groups.
// Output: comparisons.csv: a line per pair of groups, metric and step.
// Never: leaves a line out because its test found no difference.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/latents/analysis/analysis.h"

namespace millrace::latents {

OutputKind comparisons_kind();

// Writes lines by pair, metric and step. A metric's line over all steps has no step and follows those of its steps. An
// undefined number is an empty cell; `reason` says why there is no p. Throws Failure.
void write_comparisons_csv(const Analysis& analysis, const OutputTarget& csv, RunContext& context);

}  // namespace millrace::latents
