// Input: a folder of latents.
// Output: a folder of results: arrays.h5, which is resumed after a kill and may be made in shards, and files made from
//   it: tables, summary, page.
// Never: holds more latents in memory than a few per thread, apart from features for separability and one number per
//   latent and metric.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/latents/compare_devices.h"
#include "src/jobs/latents/latent_set.h"
#include "src/jobs/latents/performance.h"

namespace millrace::latents {

struct LatentsSummary {
  std::uint64_t latents = 0, videos = 0, groups = 0;
  std::uint64_t measured = 0;    // latents measured by this run
  std::uint64_t not_finite = 0;  // latents with elements that are NaN or infinite
  std::uint64_t bytes = 0;       // bytes of all latents
  std::vector<Error> unusable;
  std::vector<std::string> notes;      // warnings, and what was left out
  std::vector<std::string> findings;   // differences between groups, in words
  bool published = true;               // false if other runs have to make their shards first
  std::vector<std::uint64_t> missing;  // shards that are missing
  bool already_complete = false;       // true if other runs have made all shards and written all results
  Performance performance;
  Benchmark benchmark;
  DeviceComparison comparison;
};

// Outputs of a run besides arrays.h5, as they were checked before the run. Empty if the folder of results did not
// exist.
struct ResultFiles {
  OutputTarget metrics, comparisons, summary, performance, report;
  explicit operator bool() const { return static_cast<bool>(metrics); }
};

LatentsSummary run(const LatentsJobOptions& options, const ResultFiles& files, RunContext& context);
// Runs only what --compare asks for, without an output.
LatentsSummary run_comparison(const LatentsJobOptions& options, RunContext& context);
Plan plan(const LatentsJobOptions& options, RunContext& context);

// Returns the path of a file in the folder of results.
std::string result_path(const LatentsJobOptions& options, const char* name);
inline constexpr const char *kArraysFile = "arrays.h5", *kMetricsFile = "metrics.csv",
                            *kComparisonsFile = "comparisons.csv", *kSummaryFile = "summary.json",
                            *kPerformanceFile = "performance.json", *kReportFile = "report.html";

}  // namespace millrace::latents
