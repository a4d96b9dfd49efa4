// Enters: latents.
// Leaves: how well groups of videos can be told apart at each step, by all that the published analyser told them by.
// Never: holds the features of more than one step.
//
// Latents are read once more, step by step: a step's features are 4 bytes each, and 102,036 of them for a latent of
// [16, 16, 60, 106]. Where those of a step do not fit half of the memory they are projected to 4,096 (said in
// `projected`): src/kernels/statistics/projection.h.
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
  statistics::Separability found;   // of projected features `published` is absent
};

struct SeparabilityOfSteps {
  std::vector<StepSeparability> steps;
  std::size_t features = 0;
  bool projected = false;
  std::vector<std::string> notes;  // what was left out, and why
};

// What it holds for so many videos at a step; where that is over half of `room`, what it is held down to.
Bytes separability_memory(const Options& options, const LatentSet& set, int threads, Bytes room);

// Of latents whose number of frames is the commonest. Failure as LatentReader::read(), (cancelled).
SeparabilityOfSteps separate(const Options& options, const LatentSet& set, const Normalization& normalization,
                             RunContext& context);

}  // namespace millrace::latents
