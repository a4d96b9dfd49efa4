// Enters: items, and a score for any two of them on demand.
// Leaves: groups.
// Never: knows what an item is.
//
// Tight: complete linkage. Two clusters may join when every item of one matches every item of the other; of all that
// may, the two whose worst pair is best join first, ties going to the lower items (which callers order by content). A
// pair that no candidate rule proposed is scored when a join depends on it. Connected: chains of matches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace millrace::dedupe {

struct Link {
  std::uint32_t a = 0, b = 0;  // a < b
  float score = 0;
};

// The score of two items, a < b, that matches; below zero when they do not.
using LinkScore = std::function<float(std::uint32_t a, std::uint32_t b)>;

// Groups of at least two items, each sorted, in the order of their first items. `links` are the pairs known to match.
std::vector<std::vector<std::uint32_t>> tight_groups(const std::vector<Link>& links, const LinkScore& score);
std::vector<std::vector<std::uint32_t>> connected_groups(const std::vector<Link>& links);

}  // namespace millrace::dedupe
