// Input: latents.
// Output: how separable groups of videos are at each step, by the features of the published analyser.
// Never: holds the features of more than one step.
//
// Latents are read once more, step by step. A feature takes 4 bytes; a latent of [16, 16, 60, 106] has 102,036 of them.
// Where the features of a step do not fit half of the memory, they are read slice by slice. The step's latents are then
// read once per slice: slower, with the same numbers.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/latent_reader.h"
#include "src/jobs/latents/latent_set.h"
#include "src/kernels/statistics/separability.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

struct StepSeparability {
  long long step = 0;
  std::vector<std::size_t> videos;  // video of each sample, in the samples' order
  // p of the standardized variant times the number of steps that have a p, at most 1 (Bonferroni). A reader of all
  // steps picks the one whose groups are farthest apart.
  double corrected_p = statistics::kNoNumber;
  statistics::Separability found;
};

struct SeparabilityResult {
  std::vector<StepSeparability> steps;
  std::size_t features = 0;
  std::vector<std::string> notes;  // messages for users: what was left out, and why
};

// Bytes that separate() holds. Features take up to half of `room`, but at least one slice.
Bytes estimate_separability_memory(const LatentsJobOptions& options, const LatentSet& set, int threads, Bytes room);

// Uses latents with the most common number of frames. Throws Failure as LatentReader::read() does, and
// Failure(cancelled).
SeparabilityResult compute_separability(const LatentsJobOptions& options, const LatentSet& set,
                                        const Normalization& normalization, RunContext& context);

}  // namespace millrace::latents
