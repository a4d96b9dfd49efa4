// Input: items, and a score for any two of them on demand.
// Output: groups of items.
// Never: knows what an item is.
//
// Tight groups use complete linkage. Two clusters may join when every item of one matches every item of the other. Of
// all such pairs of clusters, those with the best worst score join first; ties go to the lower items (callers order
// items by content). A pair that no candidate rule proposed is scored when a join depends on it.
//
// Items may belong to a dense group. In a cluster of more than kMaxFullCluster items, the kRepresentatives members of
// dense groups with the highest rank represent the others. So twenty thousand similar items take as many scores per
// item as a hundred. Connected groups are chains of matches.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace millrace::dedupe {

struct ItemLink {
  std::uint32_t a = 0, b = 0;  // a < b
  float score = 0;
};

// A pair of items, the lower first.
using ItemPair = std::pair<std::uint32_t, std::uint32_t>;
// Returns the score of each pair that matches; below zero for a pair that does not.
using LinkScores = std::function<std::vector<float>(std::span<const ItemPair>)>;
// Rank of an item in a dense group: a higher one represents the cluster first. Below zero for an item in none, which
// always counts.
using ItemRank = std::function<int(std::uint32_t)>;

// docs/design/dense-groups.md gives the reasons for the constants of this file.
inline constexpr std::size_t kMaxFullCluster = 64, kRepresentatives = 16;

// Returns groups of at least two items, each sorted, in the order of their first items. `links` are pairs known to
// match.
std::vector<std::vector<std::uint32_t>> find_tight_groups(const std::vector<ItemLink>& links, const LinkScores& scores,
                                                          const ItemRank& rank);
// Prepares links for find_tight_groups(). For each item that is no anchor, the link to its most similar anchor gets a
// score above all others. Otherwise copies of two shots may be more like each other than like their shots.
std::vector<ItemLink> boost_anchor_links(std::vector<ItemLink> links,
                                         const std::function<bool(std::uint32_t)>& is_anchor);
std::vector<std::vector<std::uint32_t>> find_connected_groups(const std::vector<ItemLink>& links);

}  // namespace millrace::dedupe
