// Input: tests of pairs of groups.
// Output: their findings as sentences with numbers, for a terminal.
// Never: reports a difference without its size, and without how probable it is where groups do not differ.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/separability.h"

namespace millrace::latents {

// Returns the number of metrics that differ and the three largest differences. Where none was found, or nothing can be
// tested, it says so. A sentence about separability by all features together follows if it was computed.
std::vector<std::string> describe_findings(const Analysis& analysis, const SeparabilityResult& separability);

// Returns a message if no p-value can be as low as 0.05 with so few videos. Empty if one can, or if nothing is tested.
std::string describe_too_few_videos(const Analysis& analysis);

}  // namespace millrace::latents
