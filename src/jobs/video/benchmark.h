// Input: options.
// Output: what each stage costs by itself and all of them together, on this film and this machine; and settings that
//   would be faster.
// Never: leaves a film behind.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/video/options.h"
#include "src/jobs/video/setup.h"
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

// The same of a few pictures of the film's middle, for a plan.
struct Guess {
  std::vector<StageCost> stages;
  int cores = 1;
  double bytes = 0;         // a picture, as it is encoded
  std::int64_t pixels = 0;  // of a picture, as it was measured
  // Wall time of a picture of so many pixels, about, all stages at work at once.
  double seconds_a_picture(std::int64_t pixels_of_it) const;
};
Guess guess(Setup& setup, RunContext& context);

// The fastest of what was tried, for --config.
std::string yaml_of(const Benchmarked& benchmarked);

}  // namespace millrace::video
