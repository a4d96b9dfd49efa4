// Input: latents, and the choice of --normalize.
// Output: the scaling of each latent.
// Never: scales a latent.
#pragma once

#include "src/jobs/latents/latent_reader.h"
#include "src/jobs/latents/latent_set.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// Reads all latents once if the statistics of steps are needed; latents of a step that are not finite do not count.
// Throws Failure as LatentReader::read() does.
Normalization compute_normalization(const LatentsJobOptions& options, const LatentSet& set, RunContext& context);

}  // namespace millrace::latents
