// Enters: options, and how many pictures to take.
// Leaves: what each stage costs by itself and all of them together, on this film and this machine; and settings that
//   would be faster.
// Never: leaves a film behind.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/video/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct StageCost {
  std::string name;
  double cpu_ms = 0;  // a picture
};
struct Benchmarked {
  std::uint64_t frames = 0;
  int cores = 1;
  std::vector<StageCost> stages;
  double cpu_ms = 0, wall_ms = 0;  // a picture, of all together
  double sum_ms() const;           // of the stages by themselves
  // Each pair that was tried: settings as YAML has them, and pictures a second.
  struct Tried {
    long long requests = 0, decoder_threads = 0;
    double rate = 0;
  };
  std::vector<Tried> tried;  // the fastest first; only where something was tuned
  std::string verdict;
};

Benchmarked benchmark(const Options& options, bool tune, RunContext& context);
// The fastest of what was tried, for --config.
std::string yaml_of(const Benchmarked& benchmarked);

}  // namespace millrace::video
