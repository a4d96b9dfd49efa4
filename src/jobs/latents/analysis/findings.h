// Input: tests of pairs of groups.
// Output: what they find, in words with numbers, for a terminal.
// Never: says that groups differ without how much, and how probable that is where they do not.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/latents/analysis/analysis.h"
#include "src/jobs/latents/analysis/separate.h"

namespace millrace::latents {

// How many metrics differ, the three largest differences; or that none was found; or why nothing can be said. Then
// whether groups can be told apart by all features together, where that was asked.
std::vector<std::string> findings_of(const Analysis& analysis, const SeparabilityOfSteps& separability);

// That no p can be as low as 0.05 with so few videos; empty where one can, or where nothing is tested at all.
std::string too_few_words(const Analysis& analysis);

}  // namespace millrace::latents
