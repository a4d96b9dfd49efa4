// Input: items, and a score for any two of them on demand.
// Output: groups.
// Never: knows what an item is.
//
// Tight: complete linkage. Two clusters may join when every item of one matches every item of the other; of all that
// may, the two whose worst pair is best join first, ties going to the lower items (which callers order by content). A
// pair that no candidate rule proposed is scored when a join depends on it. Items may be one
// of a crowd: of more than kAllSpeak items, those of a crowd are spoken for by the kSpeakers of them that callers rank
// highest, so that twenty thousand alike take as many scores a head as a hundred. Connected: chains of matches.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace millrace::dedupe {

struct Link {
  std::uint32_t a = 0, b = 0;  // a < b
  float score = 0;
};

// Two items, the lower first.
using ItemPair = std::pair<std::uint32_t, std::uint32_t>;
// The score of each pair that matches; below zero where it does not.
using LinkScores = std::function<std::vector<float>(std::span<const ItemPair>)>;
// Of an item of a crowd: higher speaks first. Below zero for one that is in none, which always speaks.
using Rank = std::function<int(std::uint32_t)>;

inline constexpr std::size_t kAllSpeak = 64, kSpeakers = 16;

// Groups of at least two items, each sorted, in the order of their first items. `links` are the pairs known to match.
std::vector<std::vector<std::uint32_t>> tight_groups(const std::vector<Link>& links, const LinkScores& scores,
                                                     const Rank& rank);
// For tight_groups(): raises the link of each item that is no anchor to the anchor that it is most like above all
// others. Copies of two shots may be more like each other than like their shots.
std::vector<Link> anchored(std::vector<Link> links, const std::function<bool(std::uint32_t)>& is_anchor);
std::vector<std::vector<std::uint32_t>> connected_groups(const std::vector<Link>& links);

}  // namespace millrace::dedupe
