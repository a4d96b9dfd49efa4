#include "src/jobs/dedupe/linkage.h"

#include <algorithm>
#include <map>
#include <queue>

#include "src/jobs/dedupe/union.h"

namespace millrace::dedupe {
namespace {

std::vector<std::vector<std::uint32_t>> at_least_two(std::vector<std::vector<std::uint32_t>> groups) {
  std::erase_if(groups, [](const auto& g) { return g.size() < 2; });
  for (auto& g : groups) std::sort(g.begin(), g.end());
  std::sort(groups.begin(), groups.end());
  return groups;
}

// The items that links name, sorted: of a million pictures few have a like.
std::vector<std::uint32_t> linked(const std::vector<Link>& links) {
  std::vector<std::uint32_t> items;
  for (const Link& link : links) {
    items.push_back(link.a);
    items.push_back(link.b);
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

// Links between positions in `items` instead of items, and groups back.
std::vector<Link> positions(std::vector<Link> links, const std::vector<std::uint32_t>& items) {
  const auto at = [&](std::uint32_t item) {
    return static_cast<std::uint32_t>(std::lower_bound(items.begin(), items.end(), item) - items.begin());
  };
  for (Link& link : links) link = {at(link.a), at(link.b), link.score};
  return links;
}

std::vector<std::vector<std::uint32_t>> items_of(std::vector<std::vector<std::uint32_t>> groups,
                                                 const std::vector<std::uint32_t>& items) {
  for (auto& group : groups) {
    for (std::uint32_t& member : group) member = items[member];
  }
  return groups;
}

std::vector<std::vector<std::uint32_t>> connect(std::uint32_t items, const std::vector<Link>& links) {
  Union chains(items);
  for (const Link& link : links) chains.join(link.a, link.b);
  std::vector<std::vector<std::uint32_t>> groups(items);
  for (std::uint32_t i = 0; i < items; ++i) groups[chains.root(i)].push_back(i);
  return at_least_two(std::move(groups));
}

std::vector<std::vector<std::uint32_t>> tighten(std::uint32_t items, const std::vector<Link>& links,
                                                const LinkScore& score) {
  // A cluster is named by its lowest item. `bound` is the worst score known between two clusters that share a link;
  // joining only ever lowers it, so the best bound is looked into first, and is final once all its pairs are scored.
  struct Offer {
    float bound;
    std::uint32_t a, b;
    std::uint32_t size_a, size_b;  // what the clusters were when the offer was made
    bool final;
    bool operator<(const Offer& other) const {
      if (bound != other.bound) return bound < other.bound;
      if (a != other.a) return a > other.a;
      if (b != other.b) return b > other.b;
      return final < other.final;
    }
  };
  std::vector<std::vector<std::uint32_t>> members(items);
  std::vector<std::map<std::uint32_t, float>> near(items);
  std::priority_queue<Offer> offers;
  for (std::uint32_t i = 0; i < items; ++i) members[i] = {i};
  for (const Link& link : links) {
    near[link.a][link.b] = link.score;
    near[link.b][link.a] = link.score;
    offers.push({link.score, link.a, link.b, 1, 1, true});
  }
  const auto size = [&](std::uint32_t c) { return static_cast<std::uint32_t>(members[c].size()); };
  while (!offers.empty()) {
    const Offer offer = offers.top();
    offers.pop();
    if (size(offer.a) != offer.size_a || size(offer.b) != offer.size_b) continue;  // one of them has joined since
    if (!offer.final) {
      float worst = offer.bound;
      for (const std::uint32_t x : members[offer.a]) {
        for (const std::uint32_t y : members[offer.b]) {
          if (worst >= 0) worst = std::min(worst, score(std::min(x, y), std::max(x, y)));
        }
      }
      near[offer.a].erase(offer.b);
      near[offer.b].erase(offer.a);
      if (worst < 0) continue;
      near[offer.a][offer.b] = near[offer.b][offer.a] = worst;
      offers.push({worst, offer.a, offer.b, offer.size_a, offer.size_b, true});
      continue;
    }
    // b goes into a; both their neighbours become a's, to be looked into when their turn comes.
    members[offer.a].insert(members[offer.a].end(), members[offer.b].begin(), members[offer.b].end());
    members[offer.b].clear();
    std::map<std::uint32_t, float> joined;
    for (const std::uint32_t side : {offer.a, offer.b}) {
      for (const auto& [other, bound] : near[side]) {
        if (other == offer.a || other == offer.b) continue;
        const auto [at, fresh] = joined.try_emplace(other, bound);
        if (!fresh) at->second = std::min(at->second, bound);
        near[other].erase(side);
      }
      near[side].clear();
    }
    for (const auto& [other, bound] : joined) {
      near[offer.a][other] = near[other][offer.a] = bound;
      const std::uint32_t low = std::min(offer.a, other), high = std::max(offer.a, other);
      offers.push({bound, low, high, size(low), size(high), false});
    }
  }
  return at_least_two(std::move(members));
}

}  // namespace

std::vector<std::vector<std::uint32_t>> connected_groups(const std::vector<Link>& links) {
  const std::vector<std::uint32_t> items = linked(links);
  return items_of(connect(static_cast<std::uint32_t>(items.size()), positions(links, items)), items);
}

std::vector<std::vector<std::uint32_t>> tight_groups(const std::vector<Link>& links, const LinkScore& score) {
  const std::vector<std::uint32_t> items = linked(links);
  return items_of(tighten(static_cast<std::uint32_t>(items.size()), positions(links, items),
                          [&](std::uint32_t a, std::uint32_t b) { return score(items[a], items[b]); }),
                  items);
}

}  // namespace millrace::dedupe
