#include "src/jobs/dedupe/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "src/base/text.h"
#include "src/jobs/dedupe/linkage.h"
#include "src/jobs/dedupe/links.h"
#include "src/jobs/dedupe/look_codes.h"
#include "src/jobs/dedupe/units.h"
#include "src/kernels/quality/quality.h"

namespace millrace::dedupe {
namespace {

class Grouping {
 public:
  Grouping(const Options& options, Result& result, Catalog& catalog, RunContext& context)
      : options_(options),
        result_(result),
        library_(result.library),
        catalog_(catalog),
        context_(context),
        judge_(catalog, context),
        criteria_(keep_criteria(options.keep)) {
    for (const auto& [a, b] : catalog.not_duplicates()) apart_.insert({a, b});
    for (const auto& [a, b] : apart_) {
      const std::uint32_t x = place_of(library_.pictures, a), y = place_of(library_.pictures, b);
      if (x != y && x != kNone && y != kNone) marked_.insert({x, y});
    }
  }

  void run() {
    bursts_ = find_bursts(library_, [&](std::uint32_t a, std::uint32_t b) {
      return by_looks(library_.pictures[a].data.look, library_.pictures[b].data.look, 1).kind == alike::Kind::same;
    });
    units_ = make_units(library_, bursts_, options_.bursts == "keep-apart",
                        options_.verify ? Likeness::looks : Likeness::hashes, marked_);
    const std::vector<Link> links = options_.verify ? verified() : by_rule();
    const auto grouped_units = options_.group == "connected"
                                   ? connected_groups(links)
                                   : tight_groups(links, [&](std::uint32_t a, std::uint32_t b) { return score(a, b); });
    std::vector<std::uint32_t> group_of(units_.size(), kNone);
    for (std::uint32_t g = 0; g < grouped_units.size(); ++g) {
      for (const std::uint32_t u : grouped_units[g]) group_of[u] = g;
      add_group(grouped_units[g]);
    }
    // Units that stand alone may still hold copies.
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (group_of[u] == kNone && units_[u].files > 1) add_group({u});
    }
    for (const Link& link : links) {
      if (group_of[link.a] != group_of[link.b] || group_of[link.a] == kNone) add_related(link);
    }
    for (const auto& colours : connected_groups(recoloured_)) add_informing(colours, GroupKind::recoloured);
    for (const Burst& burst : bursts_) add_burst(burst);
    finish();
  }

 private:
  std::uint32_t picture(std::uint32_t unit) const { return units_[unit].pictures[0]; }
  const CatalogPicture& data(std::uint32_t unit) const { return library_.pictures[picture(unit)].data; }

  // Decided by a person, or different shots of one burst.
  bool kept_apart(std::uint32_t a, std::uint32_t b) const {
    const Unit& ua = units_[a];
    const Unit& ub = units_[b];
    if (ua.burst != kNone && ua.burst == ub.burst && ua.shot != ub.shot) return true;
    if (apart_.empty()) return false;
    for (const std::uint32_t x : ua.pictures) {
      for (const std::uint32_t y : ub.pictures) {
        if (told_apart(x, y)) return true;
      }
    }
    return false;
  }

  bool told_apart(std::uint32_t x, std::uint32_t y) const {
    const ContentHash& a = library_.pictures[x].data.content;
    const ContentHash& b = library_.pictures[y].data.content;
    return apart_.count({std::min(a, b), std::max(a, b)}) > 0;
  }

  Judgement by_looks(std::uint64_t a, std::uint64_t b, std::uint8_t orientations) {
    if (a == b) return {alike::Kind::same, 1};  // the same pixels
    return judge_.judgement({std::min(a, b), std::max(a, b), orientations});
  }

  // The units of one look, which stand together.
  std::pair<std::uint32_t, std::uint32_t> units_of(std::uint64_t look) const {
    const auto begin = std::lower_bound(units_.begin(), units_.end(), look,
                                        [&](const Unit& u, std::uint64_t l) { return u.look < l; });
    auto end = begin;
    while (end != units_.end() && end->look == look) ++end;
    return {static_cast<std::uint32_t>(begin - units_.begin()), static_cast<std::uint32_t>(end - units_.begin())};
  }

  std::vector<Link> verified() {
    std::vector<std::uint64_t> looks;
    std::vector<std::uint32_t> first_of;  // the first unit of each
    std::vector<Link> links;
    for (std::uint32_t u = 0, first = 0; u < units_.size(); ++u) {
      if (u == 0 || units_[u].look != looks.back()) {
        looks.push_back(units_[u].look);
        first_of.push_back(u);
        first = u;
      }
      for (std::uint32_t other = first; other < u; ++other) {
        if (!kept_apart(other, u)) links.push_back({other, u, 1});
      }
    }
    const std::vector<CatalogLink> found = find_links(
        looks, [&](std::size_t i) { return data(first_of[i]).codes; }, result_.rule, options_.orientations, catalog_,
        judge_, context_);
    for (const CatalogLink& link : found) {
      const auto kind = static_cast<alike::Kind>(link.kind);
      if (!options_.orientations) judge_.know(link.a, link.b, {kind, link.score});
      const auto [a_begin, a_end] = units_of(link.a);
      const auto [b_begin, b_end] = units_of(link.b);
      for (std::uint32_t a = a_begin; a < a_end; ++a) {
        for (std::uint32_t b = b_begin; b < b_end; ++b) {
          if (kind == alike::Kind::recoloured) recoloured_.push_back({a, b, link.score});
          if (kind == alike::Kind::same && !kept_apart(a, b)) links.push_back({a, b, link.score});
        }
      }
    }
    return links;
  }

  // The meeting's rows are the units.
  std::vector<Link> by_rule() {
    Meeting& meeting = meeting_.emplace(result_.rule, options_.orientations, context_);
    const auto enter = [&](std::size_t unit, std::span<const LookCodes> views) {
      meeting.add(data(static_cast<std::uint32_t>(unit)).look, views);
    };
    if (options_.orientations) {
      std::vector<std::uint64_t> looks;
      for (const Unit& unit : units_) looks.push_back(unit.look);
      each_turned_look(
          looks, [&](std::size_t u) { return data(static_cast<std::uint32_t>(u)).codes; }, catalog_, context_, enter);
    } else {
      for (std::uint32_t u = 0; u < units_.size(); ++u) enter(u, {&data(u).codes, 1});
    }
    std::vector<Link> links;
    meeting.each_part(0, [&](std::uint32_t, std::uint32_t, const MetPairs& met) {
      for (const RowPair& pair : met.pairs) {
        const float s = rule_score(pair.a, pair.b);
        if (s >= 0 && !kept_apart(pair.a, pair.b)) links.push_back({pair.a, pair.b, s});
      }
    });
    return links;
  }

  // Without a look at the pixels: 1 less the share of bits that differ; nothing for pictures whose hashes say too
  // little.
  float rule_score(std::uint32_t a, std::uint32_t b) const {
    if (std::min(data(a).quality, data(b).quality) <= kQualityGate) return -1;
    const auto bits = meeting_->nearest(a, b);
    if (!bits) return -1;
    return 1.0F - static_cast<float>((*bits)[0] + (*bits)[1] + (*bits)[2] + (*bits)[3]) / 256.0F;
  }

  float score(std::uint32_t a, std::uint32_t b) {
    if (kept_apart(a, b)) return -1;
    if (!options_.verify) return rule_score(a, b);
    const auto all = static_cast<std::uint8_t>(options_.orientations ? 255 : 1);
    const Judgement judgement = by_looks(data(a).look, data(b).look, all);
    return judgement.kind == alike::Kind::same ? judgement.score : -1;
  }

  void add_group(const std::vector<std::uint32_t>& units) {
    std::vector<std::uint32_t> files;
    std::set<ContentHash> contents;
    for (const std::uint32_t u : units) {
      for (const std::uint32_t p : units_[u].pictures) {
        // A copy that a person told apart from its like stays out.
        if (library_.pictures[p].files.size() > 1 && told_apart(p, p)) continue;
        contents.insert(library_.pictures[p].data.content);
        files.insert(files.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
      }
    }
    if (files.size() < 2) return;
    if (std::all_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; })) return;
    Group group;
    group.kind = contents.size() == 1 ? GroupKind::identical : GroupKind::similar;
    group.members = rank_members(library_, files, criteria_);
    add_pairs(group, units);
    for (const Member& m : group.members) {
      if (!m.keep) group.reclaimable += library_.files[m.file].entry.size;
    }
    result_.groups.push_back(std::move(group));
  }

  // The score of every two units, shown between the first members that stand for them.
  void add_pairs(Group& group, const std::vector<std::uint32_t>& units) {
    constexpr std::size_t kMostUnits = 64;  // of a larger group, only the pairs with its first unit
    const auto member_of = [&](std::uint32_t unit) {
      const auto found = std::find_if(group.members.begin(), group.members.end(), [&](const Member& m) {
        const std::uint32_t p = library_.files[m.file].picture;
        return std::find(units_[unit].pictures.begin(), units_[unit].pictures.end(), p) != units_[unit].pictures.end();
      });
      return static_cast<std::uint32_t>(found - group.members.begin());
    };
    std::vector<std::uint32_t> at;
    at.reserve(units.size());
    for (const std::uint32_t u : units) at.push_back(member_of(u));
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (i > 0 && units.size() > kMostUnits) break;
      for (std::size_t j = i + 1; j < units.size(); ++j) {
        if (at[i] >= group.members.size() || at[j] >= group.members.size()) continue;
        const std::uint32_t a = std::min(units[i], units[j]), b = std::max(units[i], units[j]);
        GroupPair pair{std::min(at[i], at[j]), std::max(at[i], at[j]), distances(data(a).codes, data(b).codes), 0};
        pair.score =
            group.kind == GroupKind::similar || group.kind == GroupKind::related ? std::max(0.0F, score(a, b)) : 0;
        group.pairs.push_back(pair);
      }
    }
    std::sort(group.pairs.begin(), group.pairs.end(),
              [](const GroupPair& x, const GroupPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  }

  // A group that suggests nothing: every member stays.
  void add_informing(const std::vector<std::uint32_t>& units, GroupKind kind) {
    Group group;
    group.kind = kind;
    for (const std::uint32_t u : units) {
      for (const std::uint32_t p : units_[u].pictures) {
        for (const std::uint32_t f : library_.pictures[p].files) group.members.push_back({f, true, ""});
      }
    }
    std::sort(group.members.begin(), group.members.end(),
              [](const Member& a, const Member& b) { return a.file < b.file; });
    if (group.members.size() < 2) return;
    add_pairs(group, units);
    (kind == GroupKind::related ? result_.related : result_.groups).push_back(std::move(group));
  }

  void add_related(const Link& link) { add_informing({link.a, link.b}, GroupKind::related); }

  void add_burst(const Burst& burst) {
    Group group;
    group.kind = GroupKind::burst;
    for (std::size_t i = 0; i < burst.pictures.size(); ++i) {
      for (const std::uint32_t f : library_.pictures[burst.pictures[i]].files) {
        group.members.push_back({f, true, fmt::format("shot {}", burst.shots[i] + 1)});
      }
    }
    result_.groups.push_back(std::move(group));
  }

  std::string id_of(const Group& group) const {
    std::vector<std::string> names;
    for (const Member& m : group.members) {
      const File& file = library_.files[m.file];
      names.push_back(hex_of_bytes(library_.pictures[file.picture].data.content) + file.entry.path);
    }
    std::sort(names.begin(), names.end());
    std::string all = name_of(group.kind);
    for (const std::string& name : names) all += '\0' + name;
    const std::uint64_t hash = short_hash({reinterpret_cast<const std::uint8_t*>(all.data()), all.size()});
    return fmt::format("{}-{:012x}", name_of(group.kind), hash >> 16);
  }

  void finish() {
    const auto path_of = [&](const Group& g) -> const std::string& {
      return library_.files[g.members[0].file].entry.path;
    };
    for (auto* list : {&result_.groups, &result_.related}) {
      context_.executor.parallel_for(list->size(), 256, [&](std::size_t from, std::size_t to) {
        for (std::size_t g = from; g < to; ++g) (*list)[g].id = id_of((*list)[g]);
      });
      context_.throw_if_cancelled();  // it skips what is left
      std::sort(list->begin(), list->end(), [&](const Group& a, const Group& b) {
        const auto order = [](const Group& g) { return g.kind == GroupKind::identical ? GroupKind::similar : g.kind; };
        if (order(a) != order(b)) return order(a) < order(b);
        if (a.reclaimable != b.reclaimable) return a.reclaimable > b.reclaimable;
        return std::pair(path_of(a), a.id) < std::pair(path_of(b), b.id);
      });
    }
    for (const Group& group : result_.groups) result_.reclaimable += group.reclaimable;
    result_.looked_at = judge_.looked_at();
  }

  const Options& options_;
  Result& result_;
  const Library& library_;
  Catalog& catalog_;
  RunContext& context_;
  Judge judge_;
  const std::vector<std::string> criteria_;
  std::set<std::pair<ContentHash, ContentHash>> apart_;
  std::set<std::uint32_t> marked_;  // pictures that stand in a pair told apart
  std::vector<Burst> bursts_;
  std::vector<Unit> units_;
  std::vector<Link> recoloured_;
  std::optional<Meeting> meeting_;  // where the rule itself decides
};

}  // namespace

void find_groups(const Options& options, Result& result, Catalog& catalog, RunContext& context) {
  Grouping(options, result, catalog, context).run();
}

}  // namespace millrace::dedupe
