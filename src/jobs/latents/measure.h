// Input: latents.
// Output: rows of arrays.h5, part by part.
// Never: holds more latents in memory than a few a thread.
#pragma once

#include <cstdint>

#include "src/io/store/dataset.h"
#include "src/jobs/latents/inputs.h"
#include "src/jobs/latents/read.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/progress.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// Latents of a video that one thread measures in a row; of two before them it reads the numbers again.
inline constexpr std::size_t kTogether = 20;

// What measuring took, on all threads together.
struct MeasuringSeconds {
  double reading = 0, trajectories = 0;
  PartSeconds parts{};

  void add(const MeasuringSeconds& other);
};

struct Measured {
  std::uint64_t latents = 0;  // by this run
  MeasuringSeconds seconds;
};

// All that the checkpoint is missing. Throws Failure.
Measured measure_missing(const Options& options, const LatentSet& set, const Normalization& normalization,
                         const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context);

// What it holds: for measuring itself, and a row of the dataset; what goes through its stages together, and the most of
// that.
struct MeasuringMemory {
  Bytes measuring, row, item, most_in_flight;
};
MeasuringMemory measuring_memory(const Options& options, const LatentSet& set, const DatasetSpec& dataset,
                                 const RunContext& context);

}  // namespace millrace::latents
