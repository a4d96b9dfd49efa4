// Input: latents.
// Output: rows of arrays.h5, shard by shard.
// Never: holds more latents in memory than a few per thread.
#pragma once

#include <cstdint>

#include "src/io/store/dataset.h"
#include "src/jobs/latents/latent_reader.h"
#include "src/jobs/latents/latent_set.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/progress.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// Number of consecutive latents of a video that one thread measures. For trajectories it reads the two before them
// again.
inline constexpr std::size_t kLatentsPerItem = 20;

// Time that measuring took, summed over all threads.
struct MeasuringSeconds {
  double reading = 0, trajectories = 0;
  StageSeconds parts{};

  void add(const MeasuringSeconds& other);
};

struct MeasuringResult {
  std::uint64_t latents = 0;  // measured by this run
  MeasuringSeconds seconds;
};

// Measures all rows that the checkpoint lacks. Throws Failure.
MeasuringResult measure_missing_rows(const LatentsJobOptions& options, const LatentSet& set,
                                     const Normalization& normalization, const DatasetSpec& dataset,
                                     Checkpoint& checkpoint, RunContext& context);

// Memory of measuring itself, of a row of the dataset, of an item in the pipeline, and the limit for all items in
// flight.
struct MeasuringMemory {
  Bytes measuring, row, item, max_in_flight;
};
MeasuringMemory estimate_measuring_memory(const LatentsJobOptions& options, const LatentSet& set,
                                          const DatasetSpec& dataset, const RunContext& context);

}  // namespace millrace::latents
