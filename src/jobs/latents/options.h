// Enters: what a person asks of `millrace latents`.
// Leaves: checked options.
// Never: touches a file.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::latents {

// The order of a file's first two axes, where there are four.
enum class Layout : std::uint8_t { cfhw, fchw };
constexpr std::array<Choice<Layout>, 2> choices_of(Layout) {
  return {{{"CFHW", Layout::cfhw}, {"FCHW", Layout::fchw}}};
}

// Steps from `first`, up to and without `end`, `stride` apart.
struct Steps {
  long long first = 0, end = std::numeric_limits<long long>::max(), stride = 1;

  bool has(long long step) const { return step >= first && step < end && (step - first) % stride == 0; }
};
// "A:B:C" as Python slices: each may be left out; "A" is that one step. Failure(usage) for anything else.
Steps parse_steps(const std::string& text);

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string groups = "*";  // a glob
  std::string steps_text = ":";
  Steps steps;
  Layout layout = Layout::cfhw;
  Share share;
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::latents
