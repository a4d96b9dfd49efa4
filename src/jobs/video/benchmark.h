// Input: the options.
// Output: the cost of each stage by itself and of all together, for this video on this machine; settings that would be
//   faster.
// Never: leaves an output video behind.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/video/options.h"
#include "src/jobs/video/setup.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct StageCost {
  std::string name;
  double cpu_ms = 0;  // per frame
};
struct BenchmarkResult {
  std::uint64_t frames = 0;
  int cores = 1;
  std::vector<StageCost> stages;
  double cpu_ms = 0, elapsed_ms = 0;  // per frame, all stages together
  double sum_ms() const;              // sum over the stages, each measured by itself
  // Settings that were tried, and the frames per second that they reached.
  struct TriedSettings {
    long long requests = 0, decoder_threads = 0;
    double rate = 0;
  };
  std::vector<TriedSettings> tried;  // the fastest first; empty unless --tune was given
  std::string verdict;
};

BenchmarkResult benchmark(const VideoOptions& options, bool tune, RunContext& context);

// The same measurements on a few frames from the middle of the video, for a plan.
struct FrameEstimate {
  std::vector<StageCost> stages;
  int cores = 1;
  double bytes = 0;         // per frame, encoded
  std::int64_t pixels = 0;  // in a frame that was measured
  // Returns the approximate wall time per frame with this number of pixels, while all stages work in parallel.
  double seconds_per_frame(std::int64_t pixels_of_it) const;
};
FrameEstimate estimate(Setup& setup, RunContext& context);

// Returns the fastest settings that were tried, in YAML for --config.
std::string to_yaml(const BenchmarkResult& benchmarked);

}  // namespace millrace::video
