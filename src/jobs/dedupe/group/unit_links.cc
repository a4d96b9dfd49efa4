#include "src/jobs/dedupe/group/unit_links.h"

#include <algorithm>
#include <limits>
#include <map>

#include "src/jobs/dedupe/match/part_links.h"
#include "src/kernels/hash_quality/hash_quality.h"

namespace millrace::dedupe {
namespace {

constexpr float kNotAgainst = 2;

}  // namespace

void UnitLinks::find() {
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    if (u == 0 || units_[u].key != units_[u - 1].key) first_of_.push_back(u);
  }
  first_of_.push_back(static_cast<std::uint32_t>(units_.size()));
  if (options_.verify) {
    verify();
  } else {
    apply_rule();
  }
}

void UnitLinks::link(std::uint32_t a, std::uint32_t b, float score) {
  if (may_join(units_[a], units_[b], not_duplicates_)) {
    links_.push_back({a, b, score});
  } else if (first_that_may_join(units_[a], units_[b], not_duplicates_)) {
    partial_.push_back({a, b, score});
  }
}

// Links units of one key. They are kept apart from each other, so they are never in one tight group. Their common parts
// are linked with the first unit, or else with a unit that holds a picture told apart.
void UnitLinks::link_within(std::uint32_t key) {
  std::uint32_t first = first_of_[key];
  while (first < first_of_[key + 1]) {
    std::uint32_t end = first + 1;
    while (end < first_of_[key + 1] && units_[end].album == units_[first].album) ++end;
    link_within(first, end);
    first = end;
  }
}

void UnitLinks::link_within(std::uint32_t first, std::uint32_t end) {
  std::vector<std::uint32_t> hubs = {first};
  for (std::uint32_t u = first + 1; u < end && !not_duplicates_.empty(); ++u) {
    const auto& pictures = units_[u].pictures;
    const bool marked =
        std::any_of(pictures.begin(), pictures.end(), [&](std::uint32_t p) { return not_duplicates_.count(p) > 0; });
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

// Links the units of two keys. Different shots of one burst are skipped, since twenty thousand frames of one burst may
// have two appearances.
void UnitLinks::link_between(std::uint32_t x, std::uint32_t y, float score) {
  using Shot = std::pair<std::uint32_t, int>;  // the only shot of a unit
  const auto shot_of = [&](std::uint32_t unit) {
    const std::vector<Part>& parts = units_[unit].parts;
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

// Adds links between parts. A `same` link between wholes takes precedence over a link between parts.
std::vector<CatalogLink> UnitLinks::with_parts(std::vector<CatalogLink> links,
                                               std::span<const std::uint64_t> appearances) {
  if (!options_.parts && !options_.orientations) return links;
  const std::vector<CatalogLink> more = find_part_links(
      appearances, {options_.parts, options_.orientations},
      [&](std::uint64_t appearance) { return crowds_.holds(appearance); }, catalog_, context_);
  const auto key = [](const CatalogLink& link) { return std::pair(link.a, link.b); };
  std::vector<CatalogLink> out;
  std::size_t at = 0;
  for (const CatalogLink& link : more) {
    for (; at < links.size() && key(links[at]) < key(link); ++at) out.push_back(links[at]);
    const bool both = at < links.size() && key(links[at]) == key(link);
    out.push_back(both && static_cast<similarity::Kind>(links[at].kind) == similarity::Kind::same ? links[at] : link);
    at += both ? 1 : 0;
  }
  out.insert(out.end(), links.begin() + static_cast<std::ptrdiff_t>(at), links.end());
  return out;
}

void UnitLinks::verify() {
  std::vector<std::uint64_t> appearances;
  for (std::uint32_t i = 0; i < keys(); ++i) {
    appearances.push_back(units_[first_of_[i]].appearance);
    link_within(i);
  }
  FoundLinks found = find_links(
      appearances, [&](std::size_t i) { return data(first_of_[i]).codes; }, rule_, catalog_, verifier_, context_);
  const auto key_of = [&](std::uint64_t appearance) {
    return static_cast<std::uint32_t>(std::lower_bound(appearances.begin(), appearances.end(), appearance) -
                                      appearances.begin());
  };
  crowds_ = std::move(found.crowds);
  for (const CatalogLink& link : with_parts(std::move(found.links), appearances)) {
    const auto kind = static_cast<similarity::Kind>(link.kind);
    verifier_.know({link.a, link.b}, {kind, link.score});
    const std::uint32_t a = key_of(link.a), b = key_of(link.b);
    if (kind == similarity::Kind::same) link_between(a, b, link.score);
    if (kind != similarity::Kind::recoloured) continue;
    // Recoloured pictures are shown in chains, so each unit needs only one link.
    const auto first_beside = [&](std::uint32_t unit, std::uint32_t key) {
      std::uint32_t u = first_of_[key];
      while (u < first_of_[key + 1] && units_[u].album != units_[unit].album) ++u;
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
void UnitLinks::apply_rule() {
  std::vector<std::uint32_t> key_of_row;  // key of each row
  std::vector<std::uint64_t> appearances;
  row_of_.assign(keys(), kNone);
  for (std::uint32_t i = 0; i < keys(); ++i) {
    if (data(first_of_[i]).quality <= kQualityGate) continue;
    row_of_[i] = static_cast<std::uint32_t>(key_of_row.size());
    key_of_row.push_back(i);
    appearances.push_back(units_[first_of_[i]].appearance);
    link_within(i);
  }
  const auto codes = [&](std::size_t row) { return data(first_of_[key_of_row[row]]).codes; };
  CodeColumns columns;
  for (std::size_t row = 0; row < appearances.size(); ++row) columns.add(codes(row));
  crowds_ = find_crowds(appearances, columns, rule_, context_);
  CandidateIndex& index = index_.emplace(rule_, context_, &crowds_);
  for (std::size_t row = 0; row < appearances.size(); ++row) index.add(appearances[row], codes(row));
  index.each_part(0, [&](std::uint32_t, std::uint32_t, const CandidatePairs& found) {
    for (const RowPair& pair : found.pairs) {
      const std::uint32_t x = key_of_row[pair.a], y = key_of_row[pair.b];
      if (const float s = rule_score(x, y); s >= 0) link_between(x, y, s);
    }
  });
}

// Returns the score of two sets of hashes without comparing pixels: 1 less the share of differing bits. Below zero if
// the rule does not hold, or if the hashes hold too little information.
float UnitLinks::rule_score(std::uint32_t x, std::uint32_t y) const {
  if (row_of_[x] == kNone || row_of_[y] == kNone) return -1;
  if (x == y) return 1;
  const auto bits = index_->bits_between(row_of_[x], row_of_[y]);
  if (!bits) return -1;
  return 1.0F - static_cast<float>((*bits)[0] + (*bits)[1] + (*bits)[2] + (*bits)[3]) / 256.0F;
}

std::vector<float> UnitLinks::scores(std::span<const ItemPair> units) {
  std::vector<float> out(units.size(), 1);  // default for equal appearances
  std::vector<AppearancePair> pairs;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& [a, b] = units[i];
    if (!options_.verify) {
      out[i] = rule_score(units_[a].key, units_[b].key);
    } else if (data(a).appearance != data(b).appearance) {
      const auto [x, y] = std::minmax(data(a).appearance, data(b).appearance);
      pairs.push_back({x, y});
      places.push_back(i);
    }
  }
  const std::vector<Judgement> judged = verifier_.judgements(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    out[places[i]] = judged[i].kind == similarity::Kind::same ? judged[i].score : -1;
  return out;
}

bool UnitLinks::passed_over(std::uint32_t a, std::uint32_t b) const {
  if (crowds_.empty() || !options_.verify) return false;
  const std::uint64_t x = data(a).appearance, y = data(b).appearance;
  return crowds_.holds(x) && crowds_.holds(y) &&
         !Crowds::compared(x, crowds_.levels_of(x), data(a).codes, y, crowds_.levels_of(y), data(b).codes);
}

std::vector<float> UnitLinks::scores_in_one_group(std::span<const ItemPair> units, Crowded crowded) {
  std::vector<ItemPair> pairs;
  std::vector<std::size_t> places;
  std::vector<float> out(units.size(), -1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& [a, b] = units[i];
    if (!may_join(units_[a], units_[b], not_duplicates_)) continue;
    if (crowded == Crowded::if_compared && passed_over(a, b)) {
      out[i] = kNotAgainst;
      continue;
    }
    pairs.push_back(units[i]);
    places.push_back(i);
  }
  const std::vector<float> known = scores(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) out[places[i]] = known[i];
  return out;
}

}  // namespace millrace::dedupe
