// Input: the options that a user gives to `millrace latents`.
// Output: checked options.
// Never: touches a file.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/jobs/folder_options.h"
#include "src/kernels/latents/latents.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::latents {

// Order of the first two of a file's four axes: channels and frames; frames and channels; a batch of one image and its
// channels.
enum class AxisOrder : std::uint8_t { cfhw, fchw, bchw };
constexpr std::array<Choice<AxisOrder>, 3> choices_of(AxisOrder) {
  return {{{"CFHW", AxisOrder::cfhw}, {"FCHW", AxisOrder::fchw}, {"BCHW", AxisOrder::bchw}}};
}
// Largest step.
inline constexpr long long kMaxStep = 1'000'000'000'000'000;

// Normalization before measuring. The mean and deviation are those of each channel, in each latent (channel) or in all
// latents of a step (step). For snr it is the power that noise adds, 1 + sigma^2.
enum class Normalize : std::uint8_t { none, channel, step, snr };
constexpr std::array<Choice<Normalize>, 4> choices_of(Normalize) {
  return {
      {{"none", Normalize::none}, {"channel", Normalize::channel}, {"step", Normalize::step}, {"snr", Normalize::snr}}};
}

// Steps from `first`, up to and without `end`, `stride` apart.
struct StepRange {
  long long first = 0, end = std::numeric_limits<long long>::max(), stride = 1;

  // The greatest `end` means no end.
  bool contains(long long step) const {
    const bool before_end = step < end || end == std::numeric_limits<long long>::max();
    return step >= first && before_end && (step - first) % stride == 0;
  }
};
// Parses "A:B:C" like a Python slice, of which each number may be left out; "A" alone is one step. Throws
// Failure(usage) for anything else.
StepRange parse_steps(const std::string& text);

// Choice of --metrics.
struct ChosenMetrics {
  MetricSelection metrics = every_metric();
  bool trajectory = true, separability = true;

  bool all() const { return metrics.all() && trajectory && separability; }
};
// Parses "all", or names and patterns such as "spatial.*,patch.8.variance,trajectory,separability". Throws
// Failure(usage) for a pattern that matches nothing.
ChosenMetrics parse_metrics(const std::string& text);

// Significance level: a difference is reported if its p, corrected for all others, is at most this.
// docs/design/latents-statistics.md gives the reasons for the constants of this file.
inline constexpr double kAlpha = 0.05;
// Numbers of permutations (of videos, and of labels) and of bootstrap replicates.
inline constexpr std::uint32_t kPermutations = 10'000, kReplicates = 10'000;

struct LatentsJobOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string groups = "*";  // a glob pattern
  std::string steps_text = ":";
  StepRange steps;
  LinkOptions links;
  std::string key;
  AxisOrder layout = AxisOrder::cfhw;
  Normalize normalize = Normalize::none;
  std::string metrics_text = "all";
  ChosenMetrics chosen;
  long long seed = 0;
  bool report = false;
  bool benchmark = false;
  std::string compare;  // names of devices; empty for no comparison
  ShardSpec share;
};

void describe(Settings& settings, LatentsJobOptions& options);

}  // namespace millrace::latents
