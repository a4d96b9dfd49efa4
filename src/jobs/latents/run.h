// Input: a folder of latents.
// Output: a folder of results: arrays.h5, which is gone on with after a kill and may be made in parts, and what is made
//   of it: tables, summary, page.
// Never: holds more latents in memory than a few a thread; features for separability apart, and a number a latent and
//   metric.
#pragma once

#include <cstdint>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/latents/compare.h"
#include "src/jobs/latents/inputs.h"
#include "src/jobs/latents/performance.h"

namespace millrace::latents {

struct Summary {
  std::uint64_t latents = 0, videos = 0, groups = 0;
  std::uint64_t measured = 0;    // by this run
  std::uint64_t not_finite = 0;  // latents with elements that are NaN or infinite
  std::uint64_t bytes = 0;       // of the latents
  std::vector<Error> unusable;
  std::vector<std::string> notes;      // warnings, and what was left out
  std::vector<std::string> findings;   // what groups differ by, in words
  bool published = true;               // false where other runs have to make their parts first
  std::vector<std::uint64_t> missing;  // parts
  bool before = false;                 // other runs have made all parts, and written all results
  Performance performance;
  Benchmark benchmark;
  Comparison comparison;
};

// What a run writes besides arrays.h5, as it was looked at. Empty where the folder of results was not there.
struct ResultFiles {
  Output metrics, comparisons, summary, performance, report;
  explicit operator bool() const { return static_cast<bool>(metrics); }
};

Summary run(const Options& options, const ResultFiles& files, RunContext& context);
// What --compare asks for, without an output.
Summary only_compare(const Options& options, RunContext& context);
Plan plan(const Options& options, RunContext& context);

// In the folder of results.
std::string result_path(const Options& options, const char* name);
inline constexpr const char *kArraysFile = "arrays.h5", *kMetricsFile = "metrics.csv",
                            *kComparisonsFile = "comparisons.csv", *kSummaryFile = "summary.json",
                            *kPerformanceFile = "performance.json", *kReportFile = "report.html";

}  // namespace millrace::latents
