// Input: latents.
// Output: how well groups of videos can be told apart at each step, by all that the published analyser told them by.
// Never: holds the features of more than one step.
//
// Latents are read once more, step by step: a step's features are 4 bytes each, and 102,036 of them for a latent of
// [16, 16, 60, 106]. Where those of a step do not fit half of the memory they come slice by slice, and its latents are
// read once a slice: slower, and the same numbers.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/inputs.h"
#include "src/jobs/latents/read.h"
#include "src/kernels/statistics/separability.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

struct StepSeparability {
  long long step = 0;
  std::vector<std::size_t> videos;  // of the samples, in their order
  // p of the standardized variant times the steps that have one, at most 1 (Bonferroni): whoever looks at all of them
  // looks at the one that is most apart.
  double corrected = statistics::kNoNumber;
  statistics::Separability found;
};

struct SeparabilityOfSteps {
  std::vector<StepSeparability> steps;
  std::size_t features = 0;
  std::vector<std::string> notes;  // what was left out, and why
};

// What it holds, where features take up to half of `room`; a slice of them at the least.
Bytes separability_memory(const Options& options, const LatentSet& set, int threads, Bytes room);

// Of latents whose number of frames is the commonest. Failure as LatentReader::read(), (cancelled).
SeparabilityOfSteps separate(const Options& options, const LatentSet& set, const Normalization& normalization,
                             RunContext& context);

}  // namespace millrace::latents
