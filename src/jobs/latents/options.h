// Input: what a person asks of `millrace latents`.
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

// The first two of a file's four axes: channels and frames, frames and channels; a batch of one image and its channels.
enum class Layout : std::uint8_t { cfhw, fchw, bchw };
constexpr std::array<Choice<Layout>, 3> choices_of(Layout) {
  return {{{"CFHW", Layout::cfhw}, {"FCHW", Layout::fchw}, {"BCHW", Layout::bchw}}};
}
// No step is beyond it.
inline constexpr long long kMostStep = 1'000'000'000'000'000;

// What latents are made alike in before they are measured: nothing; mean and deviation of each channel, in each latent
// or in all latents of a step; the power that noise adds, 1 + sigma^2.
enum class Normalize : std::uint8_t { none, channel, step, snr };
constexpr std::array<Choice<Normalize>, 4> choices_of(Normalize) {
  return {
      {{"none", Normalize::none}, {"channel", Normalize::channel}, {"step", Normalize::step}, {"snr", Normalize::snr}}};
}

// Steps from `first`, up to and without `end`, `stride` apart.
struct Steps {
  long long first = 0, end = std::numeric_limits<long long>::max(), stride = 1;

  // `end` is none where it is the greatest of all.
  bool has(long long step) const {
    const bool before_end = step < end || end == std::numeric_limits<long long>::max();
    return step >= first && before_end && (step - first) % stride == 0;
  }
};
// "A:B:C" as Python slices: each may be left out; "A" is that one step. Failure(usage) for anything else.
Steps parse_steps(const std::string& text);

// What --metrics chooses.
struct Chosen {
  Selection metrics = every_metric();
  bool trajectory = true, separability = true;

  bool all() const { return metrics.all() && trajectory && separability; }
};
// "all", or names and patterns: "spatial.*,patch.8.variance,trajectory,separability". Failure(usage) for one that names
// nothing.
Chosen parse_metrics(const std::string& text);

// A difference is said where its p, corrected for all others, is at most this.
inline constexpr double kAlpha = 0.05;
// Deals of videos, shuffles of labels, replicates of a bootstrap.
inline constexpr std::uint32_t kShuffles = 10'000, kReplicates = 10'000;

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string groups = "*";  // a glob
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
  std::string compare;  // names of devices, or none
  Share share;
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::latents
