// Input: latents, and the names of devices.
// Output: how long each of them takes to measure the same latents, of what that time is made up, and whether all find
// the
//   same numbers, bit for bit.
// Never: lets the CPU do what a device was asked for: then there would be nothing to compare.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/device/device.h"
#include "src/jobs/latents/read.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// One of --compare, measured: medians of three runs, once what is made once has been made.
struct ComparedSide {
  std::string name, model;
  double seconds = 0;                                  // of the wall, for all of them, from the host's memory
  double upload_s = 0, kernels_s = 0, download_s = 0;  // of a device, by its own clock
  double finishing_s = 0;                              // on the host, of what a device summed
  bool same = true;                                    // as the first side
};

struct Comparison {
  std::size_t latents = 0;
  std::uint64_t bytes = 0;
  std::vector<ComparedSide> sides;
  std::vector<std::string> differences;  // a metric of a latent, and the side; the first of them

  bool same() const;
};

// "cpu,cuda:1": Failure(usage) for what is no device, Failure(unavailable) with the reason for one that cannot be used.
std::vector<Device> compared_devices(const std::string& list);

// As many latents of the most usual shape as memory is for, and no more than there are; at least one.
// Failure(unavailable) where a device could not measure them. Nothing else may run.
Comparison compare(const std::vector<Device>& devices, const Options& options, const LatentSet& set,
                   const Normalization& normalization, RunContext& context);

// Of a table, a line each.
std::vector<std::string> lines_of(const Comparison& comparison);
Json json_of(const Comparison& comparison);

}  // namespace millrace::latents
