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
#include "src/pipeline/checkpoint/share.h"

namespace millrace::latents {

// Order of the first two of a file's four axes: channels and frames; frames and channels; a batch of one image and its
// channels.
enum class Layout : std::uint8_t { cfhw, fchw, bchw };
constexpr std::array<Choice<Layout>, 3> choices_of(Layout) {
  return {{{"CFHW", Layout::cfhw}, {"FCHW", Layout::fchw}, {"BCHW", Layout::bchw}}};
}
// Largest step.
inline constexpr long long kMostStep = 1'000'000'000'000'000;

// Normalization before measuring. The mean and deviation are those of each channel, in each latent (channel) or in all
// latents of a step (step). For snr it is the power that noise adds, 1 + sigma^2.
enum class Normalize : std::uint8_t { none, channel, step, snr };
constexpr std::array<Choice<Normalize>, 4> choices_of(Normalize) {
  return {
      {{"none", Normalize::none}, {"channel", Normalize::channel}, {"step", Normalize::step}, {"snr", Normalize::snr}}};
}

// Steps from `first`, up to and without `end`, `stride` apart.
struct Steps {
  long long first = 0, end = std::numeric_limits<long long>::max(), stride = 1;

  // The greatest `end` means no end.
  bool has(long long step) const {
    const bool before_end = step < end || end == std::numeric_limits<long long>::max();
    return step >= first && before_end && (step - first) % stride == 0;
  }
};
// Parses "A:B:C" like a Python slice, of which each number may be left out; "A" alone is one step. Throws
// Failure(usage) for anything else.
Steps parse_steps(const std::string& text);

// Choice of --metrics.
struct Chosen {
  Selection metrics = every_metric();
  bool trajectory = true, separability = true;

  bool all() const { return metrics.all() && trajectory && separability; }
};
// Parses "all", or names and patterns such as "spatial.*,patch.8.variance,trajectory,separability". Throws
// Failure(usage) for a pattern that matches nothing.
Chosen parse_metrics(const std::string& text);

// Significance level: a difference is reported if its p, corrected for all others, is at most this.
inline constexpr double kAlpha = 0.05;
// Numbers of permutations (of videos, and of labels) and of bootstrap replicates.
inline constexpr std::uint32_t kShuffles = 10'000, kReplicates = 10'000;

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string groups = "*";  // a glob pattern
  std::string steps_text = ":";
  Steps steps;
  LinkOptions links;
  std::string key;
  Layout layout = Layout::cfhw;
  Normalize normalize = Normalize::none;
  std::string metrics_text = "all";
  Chosen chosen;
  long long seed = 0;
  bool report = false;
  bool benchmark = false;
  std::string compare;  // names of devices; empty for no comparison
  Share share;
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::latents
