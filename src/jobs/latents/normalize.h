// Input: latents, and what --normalize asks.
// Output: what each is scaled by.
// Never: scales.
#pragma once

#include "src/jobs/latents/inputs.h"
#include "src/jobs/latents/read.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// Reads all latents once where the statistics of a step are asked for; of a step's latents, those that are not finite
// do not count. Failure as LatentReader::read().
Normalization normalization_of(const Options& options, const LatentSet& set, RunContext& context);

}  // namespace millrace::latents
