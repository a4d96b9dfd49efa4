// Input: latents, and a device.
// Output: the rows of arrays.h5 that measure.h makes, the same bytes, from sums that the device made; or why the CPU
//   makes them.
// Never: gives a device less than memory allows: latents of many videos are measured together.
#pragma once

#include <optional>
#include <string>

#include "src/device/routing.h"
#include "src/jobs/latents/measure.h"

namespace millrace::latents {

// Which side measures; nothing where there is no device beside the CPU.
std::optional<Route> route_of(const Options& options, const LatentSet& set, const RunContext& context);

// As measure_missing(), of a context with an accelerator.
Measured measure_on_device(const Options& options, const LatentSet& set, const Normalization& normalization,
                           const DatasetSpec& dataset, Checkpoint& checkpoint, RunContext& context);

// What it holds of the host's memory.
MeasuringMemory device_measuring_memory(const Options& options, const LatentSet& set, const RunContext& context);

}  // namespace millrace::latents
