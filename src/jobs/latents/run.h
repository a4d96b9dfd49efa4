// Enters: a folder of latents.
// Leaves: a folder of results: arrays.h5, which is gone on with after a kill and may be made in parts, and metrics.csv,
//   which is made of it.
// Never: holds more latents in memory than there are threads.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/latents/inputs.h"

namespace millrace::latents {

struct Summary {
  std::uint64_t latents = 0, videos = 0, groups = 0;
  std::uint64_t measured = 0;    // by this run
  std::uint64_t not_finite = 0;  // latents with elements that are NaN or infinite
  std::uint64_t bytes = 0;       // of the latents
  std::vector<Error> unusable;
  bool published = true;               // false where other runs have to make their parts first
  std::vector<std::uint64_t> missing;  // parts
  double seconds = 0, measuring_seconds = 0;
};

// `csv` is what was looked at, where the folder of results was there.
Summary run(const Options& options, const Output& csv, RunContext& context);
Plan plan(const Options& options, RunContext& context);

// In the folder of results.
std::string arrays_path(const Options& options);
std::string csv_path(const Options& options);

}  // namespace millrace::latents
