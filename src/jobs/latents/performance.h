// Enters: what a run took; a sample of latents.
// Leaves: performance.json: time by part, bytes, peak memory; and where it is asked for, the same measurements at every
//   CPU level and number of threads, compared.
// Never: is the same twice: it is the one output that is about this run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/latents/measure.h"

namespace millrace::latents {

struct Performance {
  double finding_s = 0, normalizing_s = 0, measuring_s = 0, statistics_s = 0, separability_s = 0, writing_s = 0,
         all_s = 0;
  Measured measured;
  std::uint64_t bytes_measured = 0;
};

// A sample, measured with one level and some threads.
struct BenchmarkRow {
  std::string cpu_level;
  int threads = 0;
  double seconds = 0;  // of the wall
  bool same = true;    // bits, as those of the first row
};
struct Benchmark {
  std::size_t latents = 0;
  std::vector<BenchmarkRow> rows;
};

// At every level of this machine, with one thread and with all; the level is put back. Nothing else may run.
Benchmark benchmark(const Options& options, const LatentSet& set, const Normalization& normalization,
                    RunContext& context);

OutputKind performance_kind();
nlohmann::ordered_json performance_json(const Performance& performance, const Benchmark& benchmark,
                                        const RunContext& context);

}  // namespace millrace::latents
