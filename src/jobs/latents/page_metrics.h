// Input: a metric's name.
// Output: what it tells, in a line; its family, which is what stands before the first point.
// Never: the definition; that is docs/latents.md.
#pragma once

#include <string_view>
#include <vector>

namespace millrace::latents {

// Empty for a name that is not known.
std::string_view meaning_of(std::string_view metric);

// "spatial" of "spatial.variance".
std::string_view family_of(std::string_view metric);

struct MetricFamily {
  std::string_view name, title;
};
// In the page's order; families that are not named here come behind them.
const std::vector<MetricFamily>& metric_families();

}  // namespace millrace::latents
