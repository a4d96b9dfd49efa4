#include "src/jobs/dedupe/group/appearance_group_links.h"

#include <algorithm>
#include <limits>
#include <map>

#include "src/jobs/dedupe/match/crop_links.h"
#include "src/kernels/hash_quality/hash_quality.h"

namespace millrace::dedupe {
namespace {

// docs/design/dense-groups.md gives the reasons for the constants of this file.
constexpr float kSkippedPairScore = 2;

}  // namespace

void AppearanceGroupLinks::find() {
  for (std::uint32_t u = 0; u < appearance_groups_.size(); ++u) {
    if (u == 0 || appearance_groups_[u].key != appearance_groups_[u - 1].key) first_of_.push_back(u);
  }
  first_of_.push_back(static_cast<std::uint32_t>(appearance_groups_.size()));
  if (options_.verify) {
    verify();
  } else {
    apply_rule();
  }
}

void AppearanceGroupLinks::link(std::uint32_t a, std::uint32_t b, float score) {
  if (can_join(appearance_groups_[a], appearance_groups_[b], confirmed_distinct_)) {
    links_.push_back({a, b, score});
  } else if (find_joinable_parts(appearance_groups_[a], appearance_groups_[b], confirmed_distinct_)) {
    partial_.push_back({a, b, score});
  }
}

// Links appearance groups of one key. They must not join, so they are never in one tight group. Their common parts are
// linked with the first appearance group, or else with one that holds a picture confirmed as distinct.
void AppearanceGroupLinks::link_within(std::uint32_t key) {
  std::uint32_t first = first_of_[key];
  while (first < first_of_[key + 1]) {
    std::uint32_t end = first + 1;
    while (end < first_of_[key + 1] && appearance_groups_[end].album == appearance_groups_[first].album) ++end;
    link_within(first, end);
    first = end;
  }
}

void AppearanceGroupLinks::link_within(std::uint32_t first, std::uint32_t end) {
  std::vector<std::uint32_t> hubs = {first};
  for (std::uint32_t u = first + 1; u < end && !confirmed_distinct_.empty(); ++u) {
    const auto& pictures = appearance_groups_[u].pictures;
    const bool marked = std::any_of(pictures.begin(), pictures.end(),
                                    [&](std::uint32_t p) { return confirmed_distinct_.count(p) > 0; });
    if (marked) hubs.push_back(u);
  }
  for (std::uint32_t u = first; u < end; ++u) {
    for (const std::uint32_t hub : hubs) {
      // Two hubs are linked once.
      if (hub < u || (hub > u && !std::binary_search(hubs.begin(), hubs.end(), u)))
        link(std::min(hub, u), std::max(hub, u), 1);
    }
  }
}

// Links the appearance groups of two keys. Different shots of one burst are skipped, since twenty thousand frames of
// one burst may have two appearances.
void AppearanceGroupLinks::link_between(std::uint32_t x, std::uint32_t y, float score) {
  using Shot = std::pair<std::uint32_t, int>;  // the only shot of an appearance group
  const auto shot_of = [&](std::uint32_t appearance_group) {
    const std::vector<AppearanceGroupPart>& parts = appearance_groups_[appearance_group].parts;
    return parts.size() == 1 ? Shot(parts[0].burst, parts[0].shot) : Shot(kNone, 0);
  };
  std::multimap<Shot, std::uint32_t> others;
  for (std::uint32_t b = first_of_[y]; b < first_of_[y + 1]; ++b) others.emplace(shot_of(b), b);
  for (std::uint32_t a = first_of_[x]; a < first_of_[x + 1]; ++a) {
    const auto link_to = [&](auto from, auto to) {
      for (; from != to; ++from) link(a, from->second, score);
    };
    const Shot shot = shot_of(a);
    if (shot.first == kNone) {
      link_to(others.begin(), others.end());
      continue;
    }
    constexpr int kFirst = std::numeric_limits<int>::min(), kLast = std::numeric_limits<int>::max();
    link_to(others.begin(), others.lower_bound({shot.first, kFirst}));
    link_to(others.lower_bound(shot), others.upper_bound(shot));
    link_to(others.upper_bound({shot.first, kLast}), others.end());
  }
}

// Adds links between crops. A `same` link between wholes takes precedence over a link between crops.
std::vector<CatalogLink> AppearanceGroupLinks::add_crop_links(std::vector<CatalogLink> links,
                                                              std::span<const std::uint64_t> appearances) {
  if (!options_.crops && !options_.orientations) return links;
  const std::vector<CatalogLink> more = find_crop_links(
      appearances, {options_.crops, options_.orientations},
      [&](std::uint64_t thumbnail_digest) { return dense_groups_.holds(thumbnail_digest); }, catalog_, context_);
  const auto key = [](const CatalogLink& link) { return std::pair(link.a, link.b); };
  std::vector<CatalogLink> out;
  std::size_t at = 0;
  for (const CatalogLink& link : more) {
    for (; at < links.size() && key(links[at]) < key(link); ++at) out.push_back(links[at]);
    const bool both = at < links.size() && key(links[at]) == key(link);
    out.push_back(both && static_cast<similarity::SimilarityKind>(links[at].kind) == similarity::SimilarityKind::same
                      ? links[at]
                      : link);
    at += both ? 1 : 0;
  }
  out.insert(out.end(), links.begin() + static_cast<std::ptrdiff_t>(at), links.end());
  return out;
}

void AppearanceGroupLinks::verify() {
  std::vector<std::uint64_t> appearances;
  for (std::uint32_t i = 0; i < keys(); ++i) {
    appearances.push_back(appearance_groups_[first_of_[i]].thumbnail_digest);
    link_within(i);
  }
  AppearanceLinks found = find_links(
      appearances, [&](std::size_t i) { return data(first_of_[i]).codes; }, rule_, catalog_, thumbnail_comparator_,
      context_);
  const auto key_of = [&](std::uint64_t thumbnail_digest) {
    return static_cast<std::uint32_t>(std::lower_bound(appearances.begin(), appearances.end(), thumbnail_digest) -
                                      appearances.begin());
  };
  dense_groups_ = std::move(found.dense_groups);
  for (const CatalogLink& link : add_crop_links(std::move(found.links), appearances)) {
    const auto kind = static_cast<similarity::SimilarityKind>(link.kind);
    thumbnail_comparator_.add_judgement({link.a, link.b}, {kind, link.score});
    const std::uint32_t a = key_of(link.a), b = key_of(link.b);
    if (kind == similarity::SimilarityKind::same) link_between(a, b, link.score);
    if (kind != similarity::SimilarityKind::recoloured) continue;
    // Recoloured pictures are shown in chains, so each appearance group needs only one link.
    const auto first_beside = [&](std::uint32_t appearance_group, std::uint32_t key) {
      std::uint32_t u = first_of_[key];
      while (u < first_of_[key + 1] && appearance_groups_[u].album != appearance_groups_[appearance_group].album) ++u;
      return u < first_of_[key + 1] ? u : kNone;
    };
    for (std::uint32_t u = first_of_[a]; u < first_of_[a + 1]; ++u) {
      if (const std::uint32_t v = first_beside(u, b); v != kNone) recoloured_.push_back({u, v, link.score});
    }
    for (std::uint32_t u = first_of_[b]; u < first_of_[b + 1]; ++u) {
      if (const std::uint32_t v = first_beside(u, a); v != kNone) recoloured_.push_back({v, u, link.score});
    }
  }
}

// Rows of the index are the sets of hashes that hold enough information.
void AppearanceGroupLinks::apply_rule() {
  std::vector<std::uint32_t> key_of_row;  // key of each row
  std::vector<std::uint64_t> appearances;
  row_of_.assign(keys(), kNone);
  for (std::uint32_t i = 0; i < keys(); ++i) {
    if (data(first_of_[i]).quality <= kQualityGate) continue;
    row_of_[i] = static_cast<std::uint32_t>(key_of_row.size());
    key_of_row.push_back(i);
    appearances.push_back(appearance_groups_[first_of_[i]].thumbnail_digest);
    link_within(i);
  }
  const auto codes = [&](std::size_t row) { return data(first_of_[key_of_row[row]]).codes; };
  CodeColumns columns;
  for (std::size_t row = 0; row < appearances.size(); ++row) columns.add(codes(row));
  dense_groups_ = find_dense_groups(appearances, columns, rule_, context_);
  CandidateIndex& index = index_.emplace(rule_, context_, &dense_groups_);
  for (std::size_t row = 0; row < appearances.size(); ++row) index.add(appearances[row], codes(row));
  index.for_each_batch(0, [&](std::uint32_t, std::uint32_t, const CandidatePairs& found) {
    for (const RowPair& pair : found.pairs) {
      const std::uint32_t x = key_of_row[pair.a], y = key_of_row[pair.b];
      if (const float s = rule_score(x, y); s >= 0) link_between(x, y, s);
    }
  });
}

// Returns the score of two sets of hashes without comparing pixels: 1 less the share of differing bits. Below zero if
// the rule does not hold, or if the hashes hold too little information.
float AppearanceGroupLinks::rule_score(std::uint32_t x, std::uint32_t y) const {
  if (row_of_[x] == kNone || row_of_[y] == kNone) return -1;
  if (x == y) return 1;
  const auto bits = index_->count_differing_bits(row_of_[x], row_of_[y]);
  if (!bits) return -1;
  return 1.0F - static_cast<float>((*bits)[0] + (*bits)[1] + (*bits)[2] + (*bits)[3]) / 256.0F;
}

std::vector<float> AppearanceGroupLinks::score_pairs(std::span<const ItemPair> appearance_groups) {
  std::vector<float> out(appearance_groups.size(), 1);  // default for equal appearances
  std::vector<AppearancePair> pairs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < appearance_groups.size(); ++i) {
    const auto& [a, b] = appearance_groups[i];
    if (!options_.verify) {
      out[i] = rule_score(appearance_groups_[a].key, appearance_groups_[b].key);
    } else if (data(a).thumbnail_digest != data(b).thumbnail_digest) {
      const auto [x, y] = std::minmax(data(a).thumbnail_digest, data(b).thumbnail_digest);
      pairs.push_back({x, y});
      places.push_back(i);
    }
  }
  const std::vector<Judgement> judged = thumbnail_comparator_.compare_and_store(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    out[places[i]] = judged[i].kind == similarity::SimilarityKind::same ? judged[i].score : -1;
  return out;
}

bool AppearanceGroupLinks::is_skipped_pair(std::uint32_t a, std::uint32_t b) const {
  if (dense_groups_.empty() || !options_.verify) return false;
  const std::uint64_t x = data(a).thumbnail_digest, y = data(b).thumbnail_digest;
  return dense_groups_.holds(x) && dense_groups_.holds(y) &&
         !DenseGroups::are_compared(x, dense_groups_.levels_of(x), data(a).codes, y, dense_groups_.levels_of(y),
                                    data(b).codes);
}

std::vector<float> AppearanceGroupLinks::score_joinable_pairs(std::span<const ItemPair> appearance_groups,
                                                              DensePairs dense_pairs) {
  std::vector<ItemPair> pairs;
  std::vector<std::size_t> places;
  std::vector<float> out(appearance_groups.size(), -1);
  for (std::size_t i = 0; i < appearance_groups.size(); ++i) {
    const auto& [a, b] = appearance_groups[i];
    if (!can_join(appearance_groups_[a], appearance_groups_[b], confirmed_distinct_)) continue;
    if (dense_pairs == DensePairs::if_compared && is_skipped_pair(a, b)) {
      out[i] = kSkippedPairScore;
      continue;
    }
    pairs.push_back(appearance_groups[i]);
    places.push_back(i);
  }
  const std::vector<float> known = score_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) out[places[i]] = known[i];
  return out;
}

}  // namespace millrace::dedupe
