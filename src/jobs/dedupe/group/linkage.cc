#include "src/jobs/dedupe/group/linkage.h"

#include <algorithm>
#include <map>
#include <queue>

#include "src/jobs/dedupe/suggest/disjoint_sets.h"

namespace millrace::dedupe {
namespace {

std::vector<std::vector<std::uint32_t>> drop_singletons(std::vector<std::vector<std::uint32_t>> groups) {
  std::erase_if(groups, [](const auto& g) { return g.size() < 2; });
  for (auto& g : groups) std::sort(g.begin(), g.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

// Returns the items that occur in links, sorted: of a million pictures few match another.
std::vector<std::uint32_t> list_linked_items(const std::vector<ItemLink>& links) {
  std::vector<std::uint32_t> items;
  for (const ItemLink& link : links) {
    items.push_back(link.a);
    items.push_back(link.b);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

// Converts links between items to links between positions in `items`; items_of() converts groups back.
std::vector<ItemLink> to_positions(std::vector<ItemLink> links, const std::vector<std::uint32_t>& items) {
  const auto at = [&](std::uint32_t item) {
    return static_cast<std::uint32_t>(std::lower_bound(items.begin(), items.end(), item) - items.begin());
  };
  for (ItemLink& link : links) link = {at(link.a), at(link.b), link.score};
  return links;
}

std::vector<std::vector<std::uint32_t>> items_of(std::vector<std::vector<std::uint32_t>> groups,
                                                 const std::vector<std::uint32_t>& items) {
  for (auto& group : groups) {
    for (std::uint32_t& member : group) member = items[member];
  }
  return groups;
}

std::vector<std::vector<std::uint32_t>> connect(std::uint32_t items, const std::vector<ItemLink>& links) {
  DisjointSets chains(items);
  for (const ItemLink& link : links) chains.join(link.a, link.b);
  std::vector<std::vector<std::uint32_t>> groups(items);
  for (std::uint32_t i = 0; i < items; ++i) groups[chains.find_root(i)].push_back(i);
  return drop_singletons(std::move(groups));
}

class CompleteLinkage {
 public:
  CompleteLinkage(std::uint32_t items, const LinkScores& scores, std::vector<int> ranks)
      : scores_(scores), ranks_(std::move(ranks)), members_(items), representatives_(items), near_(items) {
    for (std::uint32_t i = 0; i < items; ++i) members_[i] = representatives_[i] = {i};
  }

  std::vector<std::vector<std::uint32_t>> run(const std::vector<ItemLink>& links) {
    for (const ItemLink& link : links) {
      near_[link.a][link.b] = near_[link.b][link.a] = link.score;
      offers_.push({link.score, link.a, link.b, 1, 1});
    }
    while (!offers_.empty()) {
      const Offer offer = offers_.top();
      offers_.pop();
      const auto bound = near_[offer.a].find(offer.b);
      if (bound == near_[offer.a].end() || bound->second != offer.bound)
        continue;  // it is known to be worse, or was joined
      const bool as_it_was = size(offer.a) == offer.size_a && size(offer.b) == offer.size_b;
      if (as_it_was) {
        join(offer.a, offer.b);
        continue;
      }
      near_[offer.b].erase(offer.a);
      near_[offer.a].erase(bound);
      if (const float worst = worst_of(offer.a, offer.b, offer.bound); worst >= 0) offer_again(offer.a, offer.b, worst);
    }
    return drop_singletons(std::move(members_));
  }

 private:
  // A cluster is named by its lowest item. `bound` is the worst score known between two clusters that share a link.
  // Joining can only lower it, so the best bound is examined first. It is final while the clusters have these sizes.
  struct Offer {
    float bound;
    std::uint32_t a, b;
    std::uint32_t size_a, size_b;
    bool operator<(const Offer& other) const {
      if (bound != other.bound) return bound < other.bound;
      if (a != other.a) return a > other.a;
      return b > other.b;
    }
  };

  std::uint32_t size(std::uint32_t c) const { return static_cast<std::uint32_t>(members_[c].size()); }

  void offer_again(std::uint32_t a, std::uint32_t b, float bound) {
    near_[a][b] = near_[b][a] = bound;
    offers_.push({bound, a, b, size(a), size(b)});
  }

  // Returns the worst score between two clusters; below zero if a pair does not match.
  float worst_of(std::uint32_t a, std::uint32_t b, float worst) const {
    std::vector<ItemPair> pairs;
    for (const std::uint32_t x : representatives_[a]) {
      for (const std::uint32_t y : representatives_[b]) pairs.emplace_back(std::minmax(x, y));
    }
    // Scores a few pairs first: a single pair that does not match decides.
    for (std::size_t begin = 0, count = 1; begin < pairs.size() && worst >= 0; begin += count, count *= 2) {
      count = std::min(count, pairs.size() - begin);
      for (const float score : scores_(std::span(pairs).subspan(begin, count))) worst = std::min(worst, score);
    }
    return worst;
  }

  void join_representatives(std::uint32_t a, std::uint32_t b) {
    auto& all = representatives_[a];
    all.insert(all.end(), representatives_[b].begin(), representatives_[b].end());
    representatives_[b].clear();
    if (members_[a].size() <= kMaxFullCluster) return;
    const auto first_dense = std::partition(all.begin(), all.end(), [&](std::uint32_t x) { return ranks_[x] < 0; });
    if (all.end() - first_dense <= static_cast<std::ptrdiff_t>(kRepresentatives)) return;
    const auto end = first_dense + static_cast<std::ptrdiff_t>(kRepresentatives);
    std::partial_sort(first_dense, end, all.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::pair(-ranks_[x], x) < std::pair(-ranks_[y], y);
    });
    all.erase(end, all.end());
  }

  // Merges b into a; b's neighbours become a's. Earlier offers to a remain in the queue, and are examined in their
  // turn.
  void join(std::uint32_t a, std::uint32_t b) {
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    members_[b].clear();
    join_representatives(a, b);
    near_[a].erase(b);
    for (const auto& [other, bound] : near_[b]) {
      if (other == a) continue;
      near_[other].erase(b);
      const auto [at, fresh] = near_[a].try_emplace(other, bound);
      if (!fresh && at->second <= bound) continue;
      at->second = near_[other][a] = bound;
      // Size 0 marks the offer as not final.
      offers_.push({bound, std::min(a, other), std::max(a, other), 0, 0});
    }
    near_[b].clear();
  }

  const LinkScores& scores_;
  const std::vector<int> ranks_;
  std::vector<std::vector<std::uint32_t>> members_, representatives_;
  std::vector<std::map<std::uint32_t, float>> near_;
  std::priority_queue<Offer> offers_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> find_connected_groups(const std::vector<ItemLink>& links) {
  const std::vector<std::uint32_t> items = list_linked_items(links);
  return items_of(connect(static_cast<std::uint32_t>(items.size()), to_positions(links, items)), items);
}

std::vector<ItemLink> boost_anchor_links(std::vector<ItemLink> links,
                                         const std::function<bool(std::uint32_t)>& is_anchor) {
  std::map<std::uint32_t, std::size_t> best;  // link of each item
  for (std::size_t i = 0; i < links.size(); ++i) {
    const bool first = is_anchor(links[i].a), second = is_anchor(links[i].b);
    if (first == second) continue;
    const auto [at, fresh] = best.try_emplace(first ? links[i].b : links[i].a, i);
    if (!fresh && links[i].score > links[at->second].score) at->second = i;
  }
  // docs/design/dense-groups.md gives the reasons for the constants of this file.
  constexpr float kAboveAll = 2;
  for (const auto& [item, link] : best) links[link].score += kAboveAll;
  return links;
}

std::vector<std::vector<std::uint32_t>> find_tight_groups(const std::vector<ItemLink>& links, const LinkScores& scores,
                                                          const ItemRank& rank) {
  const std::vector<std::uint32_t> items = list_linked_items(links);
  std::vector<int> ranks;
  ranks.reserve(items.size());
  for (const std::uint32_t item : items) ranks.push_back(rank(item));
  const LinkScores of_positions = [&](std::span<const ItemPair> pairs) {
    std::vector<ItemPair> of_items;
    of_items.reserve(pairs.size());
    for (const auto& [x, y] : pairs) of_items.emplace_back(items[x], items[y]);
    return scores(of_items);
  };
  CompleteLinkage tightening(static_cast<std::uint32_t>(items.size()), of_positions, std::move(ranks));
  return items_of(tightening.run(to_positions(links, items)), items);
}

}  // namespace millrace::dedupe
