// Input: the times of a run; a sample of latents.
// Output: performance.json: time by stage, bytes, peak memory; on request, the same measures at every CPU level and
//   number of threads, compared.
// Never: is the same twice: it is the only output about the run itself.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/latents/compare_devices.h"
#include "src/jobs/latents/measure.h"

namespace millrace::latents {

// Wall time, and CPU time of all threads of this program.
struct StageTime {
  double elapsed_s = 0, cpu_s = 0;

  StageTime& operator+=(const StageTime& other) {
    elapsed_s += other.elapsed_s;
    cpu_s += other.cpu_s;
    return *this;
  }
};
// Stopwatch: next() returns the time since construction or the last call.
class LapTimer {
 public:
  LapTimer();
  StageTime next();

 private:
  StageTime last_;
};

struct Performance {
  StageTime finding, normalizing, measuring, statistics, separability, writing, all;
  MeasuringResult measured;
  std::uint64_t bytes_measured = 0;
};

// Result of measuring a sample at one CPU level with some threads.
struct BenchmarkRow {
  std::string cpu_level;
  int threads = 0;
  double seconds = 0;   // wall time
  bool is_same = true;  // true if all bits are those of the first row
};
struct Benchmark {
  std::size_t latents = 0;
  std::vector<BenchmarkRow> rows;
};

// Measures a sample at every level of this machine, with one thread and with all; then restores the level. No other
// work may run meanwhile.
Benchmark benchmark(const LatentsJobOptions& options, const LatentSet& set, const Normalization& normalization,
                    RunContext& context);

OutputKind performance_kind();
Json performance_json(const Performance& performance, const Benchmark& benchmark, const DeviceComparison& comparison,
                      const RunContext& context);

}  // namespace millrace::latents
