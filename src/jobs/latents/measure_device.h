// Input: latents, and a device.
// Output: the rows of arrays.h5 that measure.h makes, the same bytes, from sums of the device; or the reason why the
//   CPU makes them.
// Never: gives a device fewer latents than memory allows: latents of many videos are measured together.
#pragma once

#include <optional>
#include <string>

#include "src/device/routing.h"
#include "src/jobs/latents/measure.h"

namespace millrace::latents {

// Returns which side measures: the device or the CPU. Empty if there is no device.
std::optional<Route> choose_route(const LatentsJobOptions& options, const LatentSet& set, const RunContext& context);

// Does the work of measure_missing_rows(), in a context with an accelerator.
MeasuringResult measure_on_device(const LatentsJobOptions& options, const LatentSet& set,
                                  const Normalization& normalization, const DatasetSpec& dataset,
                                  Checkpoint& checkpoint, RunContext& context);

// Returns the host's memory that measure_on_device() holds.
MeasuringMemory estimate_device_memory(const LatentsJobOptions& options, const LatentSet& set,
                                       const RunContext& context);

}  // namespace millrace::latents
