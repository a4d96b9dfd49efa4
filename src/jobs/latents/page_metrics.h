// Input: a metric's name.
// Output: its meaning in one line, and its family: the part of the name before the first point.
// Never: gives a definition; docs/latents.md does.
#pragma once

#include <string_view>
#include <vector>

namespace millrace::latents {

// Returns an empty text for an unknown name.
std::string_view meaning_of(std::string_view metric);

// Returns "spatial" for "spatial.variance".
std::string_view family_of(std::string_view metric);

struct MetricFamily {
  std::string_view name, title;
};
// Families in the page's order; a family that is not listed here follows them.
const std::vector<MetricFamily>& metric_families();

}  // namespace millrace::latents
