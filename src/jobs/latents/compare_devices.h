// Input: latents, and the names of devices.
// Output: each device's time to measure the same latents, by stage, and whether all devices find the same
//   numbers, bit for bit.
// Never: lets the CPU measure for a device that was asked for: then there would be nothing to compare.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/device/device.h"
#include "src/jobs/latents/latent_reader.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

// Result of one device of --compare: the run with the median time of three, after a warm-up run.
struct ComparedDevice {
  std::string name, model;
  double seconds = 0;                                  // wall time of all latents, from the host's memory
  double upload_s = 0, kernels_s = 0, download_s = 0;  // times of a device, by its own clock
  double finishing_s = 0;                              // time on the host to make metrics of a device's sums
  bool is_same = true;                                 // true if the numbers are those of the first side
};

struct DeviceComparison {
  std::size_t latents = 0;
  std::uint64_t bytes = 0;
  std::vector<ComparedDevice> sides;
  std::vector<std::string> differences;  // the first differences: a metric of a latent, and the side

  bool is_same() const;
};

// Parses a list such as "cpu,cuda:1". Throws Failure(usage) for a name that is no device, and Failure(unavailable) with
// the reason for a device that cannot be used.
std::vector<Device> parse_devices(const std::string& list);

// Measures as many latents of the most common shape as fit the memory, at least one, on every device. Throws
// Failure(unavailable) if a device cannot measure them. No other work may run meanwhile.
DeviceComparison compare(const std::vector<Device>& devices, const LatentsJobOptions& options, const LatentSet& set,
                         const Normalization& normalization, RunContext& context);

// Returns a table, one text per line.
std::vector<std::string> format_comparison(const DeviceComparison& comparison);
Json json_of(const DeviceComparison& comparison);

}  // namespace millrace::latents
