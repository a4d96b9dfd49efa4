// Enters: what a person wants joined, and how.
// Leaves: the same as one described table.
// Never: checks files.
#pragma once

#include <array>
#include <string>

#include "src/base/settings.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

constexpr std::array<Choice<Algorithm>, 3> choices_of(Algorithm) {
  return {{{"auto", Algorithm::automatic}, {"brute", Algorithm::brute}, {"index", Algorithm::index}}};
}

}  // namespace millrace::hamming

namespace millrace::join {

struct Options {
  std::string codes;      // the input, a .npy file
  std::string output;     // the pairs, a .npy file; empty to only count
  long long radius = -1;  // must be given
  bool collapsed = false;
  hamming::Algorithm algorithm = hamming::Algorithm::automatic;
};

// The options of `millrace join` except the input, which has no flag.
inline void describe(Settings& settings, Options& options) {
  settings.heading("Join");
  settings.add_integer("radius", "R", "pairs whose codes differ in at most R bits", options.radius, 0, 255);
  settings.add_text("output", "PAIRS.npy",
                    "where the pairs go: rows (i, j, distance), i < j, sorted; without it they are only counted",
                    options.output);
  settings.add_switch("collapsed",
                      "write pairs of nodes, a node being all equal codes, and each row's node to PAIRS.nodes.npy",
                      options.collapsed);
  settings.add_choice("algorithm",
                      "compare all pairs, or those that agree in some part; auto takes the faster, "
                      "the pairs are the same",
                      options.algorithm);
}

}  // namespace millrace::join
