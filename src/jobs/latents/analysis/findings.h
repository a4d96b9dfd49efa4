// Enters: tests of pairs of groups.
// Leaves: what they find, in words with numbers, for a terminal.
// Never: says that groups differ without how much, and how probable that is where they do not.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/analysis/analysis.h"

namespace millrace::latents {

// How many metrics differ, the three largest differences; or that none was found; or why nothing can be said.
std::vector<std::string> findings_of(const Analysis& analysis);

}  // namespace millrace::latents
