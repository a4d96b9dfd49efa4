#include "src/jobs/dedupe/group/linkage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace millrace::dedupe {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

// Scores of all pairs of items, and the links that are proposed.
struct LinkedPicture {
  std::uint32_t items = 0;
  std::map<ItemPair, float> scores;
  std::vector<ItemLink> links;
};

// Makes items in a few clumps, with ties, pairs that are not proposed, and pairs that do not match.
LinkedPicture random_picture(std::uint32_t seed) {
  std::mt19937 random(seed);
  LinkedPicture out;
  out.items = 4 + static_cast<std::uint32_t>(random() % 20);
  for (std::uint32_t a = 0; a < out.items; ++a) {
    for (std::uint32_t b = a + 1; b < out.items; ++b) {
      const bool clump = a % 3 == b % 3;
      const bool matches = random() % 10 < (clump ? 9 : 2);
      const float score = matches ? 0.5F + static_cast<float>(random() % 5) / 10 : -1;
      out.scores[{a, b}] = score;
      if (matches && random() % 10 < 7) out.links.push_back({a, b, score});
    }
  }
  std::shuffle(out.links.begin(), out.links.end(), random);
  return out;
}

// Implements the definition: tries all pairs of clusters with a link between them.
Groups reference(const LinkedPicture& picture) {
  Groups clusters;
  for (std::uint32_t i = 0; i < picture.items; ++i) clusters.push_back({i});
  const auto worst_of = [&](const auto& x, const auto& y) {
    float worst = std::numeric_limits<float>::max();
    for (const std::uint32_t a : x) {
      for (const std::uint32_t b : y) worst = std::min(worst, picture.scores.at(std::minmax(a, b)));
    }
    return worst;
  };
  const auto linked = [&](const auto& x, const auto& y) {
    return std::any_of(picture.links.begin(), picture.links.end(), [&](const ItemLink& link) {
      const auto in = [](const auto& c, std::uint32_t i) { return std::find(c.begin(), c.end(), i) != c.end(); };
      return (in(x, link.a) && in(y, link.b)) || (in(x, link.b) && in(y, link.a));
    });
  };
  for (;;) {
    std::tuple<float, std::size_t, std::size_t> best{-1, 0, 0};
    for (std::size_t x = 0; x < clusters.size(); ++x) {
      for (std::size_t y = x + 1; y < clusters.size(); ++y) {
        const float worst = worst_of(clusters[x], clusters[y]);
        if (worst > std::get<0>(best) && worst >= 0 && linked(clusters[x], clusters[y])) best = {worst, x, y};
      }
    }
    const auto& [worst, x, y] = best;
    if (worst < 0) break;
    clusters[x].insert(clusters[x].end(), clusters[y].begin(), clusters[y].end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(y));
  }
  std::erase_if(clusters, [](const auto& c) { return c.size() < 2; });
  for (auto& c : clusters) std::sort(c.begin(), c.end());
  return clusters;
}

TEST(LinkageTest, TightGroupsAreThoseOfTheDefinition) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const LinkedPicture picture = random_picture(seed);
    const auto scores = [&](std::span<const ItemPair> pairs) {
      std::vector<float> out;
      for (const ItemPair& pair : pairs) out.push_back(picture.scores.at(pair));
      return out;
    };
    EXPECT_EQ(find_tight_groups(picture.links, scores, [](std::uint32_t) { return -1; }), reference(picture)) << seed;
  }
}

// Five thousand items that all match, linked in a chain. One more item has a link, and matches no item of the highest
// rank.
TEST(LinkageTest, ALargeClusterIsSpokenForByAFew) {
  constexpr std::uint32_t kItems = 5000, kStranger = kItems;
  std::vector<ItemLink> links;
  for (std::uint32_t i = 0; i + 1 < kItems; ++i) links.push_back({i, i + 1, 0.9F});
  links.push_back({7, kStranger, 0.6F});
  const auto rank = [](std::uint32_t item) { return item == kStranger ? -1 : item % 100 == 50 ? 5 : 0; };
  std::set<ItemPair> asked;
  const auto scores = [&](std::span<const ItemPair> pairs) {
    std::vector<float> out;
    for (const ItemPair& pair : pairs) {
      asked.insert(pair);
      out.push_back(pair.second == kStranger && rank(pair.first) > 0 ? -1.0F : 0.8F);
    }
    return out;
  };
  const Groups groups = find_tight_groups(links, scores, rank);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].size(), kItems) << "the stranger is kept out by those who speak";
  EXPECT_LT(asked.size(), std::size_t{100} * kItems);
}

// Shots 0 and 1 may not be in one group. The copies of both are more like each other than like the shots.
TEST(LinkageTest, CopiesStandWithTheirShotsBeforeEachOther) {
  const std::vector<ItemLink> links = {{0, 2, 0.95F}, {0, 3, 0.8F}, {1, 2, 0.85F}, {1, 3, 0.9F}, {2, 3, 0.99F}};
  const auto scores = [&](std::span<const ItemPair> pairs) {
    std::vector<float> out;
    for (const ItemPair& pair : pairs) {
      const auto at = std::find_if(links.begin(), links.end(),
                                   [&](const ItemLink& link) { return ItemPair(link.a, link.b) == pair; });
      out.push_back(at == links.end() ? -1.0F : at->score);
    }
    return out;
  };
  const auto rank = [](std::uint32_t) { return -1; };
  const auto is_shot = [](std::uint32_t item) { return item < 2; };
  EXPECT_EQ(find_tight_groups(links, scores, rank), (Groups{{1, 2, 3}})) << "without anchors one shot has both";
  EXPECT_EQ(find_tight_groups(boost_anchor_links(links, is_shot), scores, rank), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(find_tight_groups(boost_anchor_links(links, [](std::uint32_t) { return false; }), scores, rank),
            (Groups{{1, 2, 3}}));
}

TEST(LinkageTest, NobodyIsLostOrInTwoGroups) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const LinkedPicture picture = random_picture(seed);
    const auto scores = [&](std::span<const ItemPair> pairs) { return std::vector<float>(pairs.size(), 0.7F); };
    std::set<std::uint32_t> linked, grouped;
    for (const ItemLink& link : picture.links) linked.insert({link.a, link.b});
    for (const Groups& groups : {find_tight_groups(picture.links, scores, [](std::uint32_t) { return 0; }),
                                 find_connected_groups(picture.links)}) {
      grouped.clear();
      for (const auto& group : groups) {
        for (const std::uint32_t item : group) EXPECT_TRUE(grouped.insert(item).second) << seed;
      }
      EXPECT_EQ(grouped, linked) << "where all match, whoever has a link has a group";
    }
  }
}

}  // namespace
}  // namespace millrace::dedupe
