// Input: what a run took; a sample of latents.
// Output: performance.json: time by part, bytes, peak memory; and where it is asked for, the same measurements at every
//   CPU level and number of threads, compared.
// Never: is the same twice: it is the one output that is about this run.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/latents/compare.h"
#include "src/jobs/latents/measure.h"

namespace millrace::latents {

// Of the wall, and of all threads of this program on a CPU.
struct Took {
  double wall_s = 0, cpu_s = 0;

  Took& operator+=(const Took& other) {
    wall_s += other.wall_s;
    cpu_s += other.cpu_s;
    return *this;
  }
};
// What has passed since it was made, or last asked.
class Lap {
 public:
  Lap();
  Took next();

 private:
  Took last_;
};

struct Performance {
  Took finding, normalizing, measuring, statistics, separability, writing, all;
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
Json performance_json(const Performance& performance, const Benchmark& benchmark, const Comparison& comparison,
                      const RunContext& context);

}  // namespace millrace::latents
