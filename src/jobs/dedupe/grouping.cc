#include "src/jobs/dedupe/grouping.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "src/jobs/dedupe/linkage.h"
#include "src/jobs/dedupe/links.h"
#include "src/jobs/dedupe/shown_groups.h"
#include "src/jobs/dedupe/units.h"
#include "src/kernels/quality/quality.h"

namespace millrace::dedupe {
namespace {

class Grouping {
 public:
  Grouping(const Options& options, Result& result, Catalog& catalog, Looks& looks, RunContext& context)
      : options_(options),
        result_(result),
        library_(result.library),
        catalog_(catalog),
        looks_(looks),
        context_(context),
        judge_(catalog, context),
        criteria_(keep_criteria(options.keep)),
        shown_(result, units_, unit_of_, origins_, criteria_, looks,
               {[this](std::span<const ItemPair> pairs) { return scores(pairs, Crowded::all); },
                [this](std::span<const ItemPair> pairs) { return likeness_scores(pairs); }}) {
    for (const auto& [a, b] : catalog.not_duplicates()) {
      const std::uint32_t x = place_of(library_.pictures, a), y = place_of(library_.pictures, b);
      if (x == kNone || y == kNone) continue;
      if (x == y) {
        copies_apart_.insert(x);
      } else {
        apart_[x].insert(y);
        apart_[y].insert(x);
      }
    }
  }

  void run() {
    bursts_ = find_bursts(library_, [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = library_.pictures[a].data.look, y = library_.pictures[b].data.look;
      if (x == y) return true;
      const LookPair pair{std::min(x, y), std::max(x, y), 1};
      return judge_.judgements({&pair, 1})[0].kind == alike::Kind::same;
    });
    units_ = make_units(library_, bursts_, options_.bursts == "keep-apart",
                        options_.verify ? Likeness::looks : Likeness::hashes, apart_);
    number_units();
    if (options_.verify) {
      verify();
    } else {
      apply_rule();
    }
    std::vector<Link> links = links_;
    links.insert(links.end(), partial_.begin(), partial_.end());
    const auto grouped_units =
        options_.group == "connected"
            ? connected_groups(links)
            : tight_groups(
                  links_, [&](std::span<const ItemPair> pairs) { return scores(pairs, Crowded::if_compared); },
                  [&](std::uint32_t unit) { return Crowds::level_of(data(unit).look); });
    std::vector<std::uint32_t> group_of(units_.size(), kNone);
    for (std::uint32_t g = 0; g < grouped_units.size(); ++g) {
      for (const std::uint32_t u : grouped_units[g]) group_of[u] = g;
      add_candidate(grouped_units[g]);
    }
    // Units that stand alone may still hold copies.
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (group_of[u] == kNone && units_[u].files > 1) add_candidate({u});
    }
    const auto in_one_candidate = [&](const Link& link) {
      return group_of[link.a] == group_of[link.b] && group_of[link.a] != kNone;
    };
    for (const Link& link : links_) {
      if (!in_one_candidate(link) && !has_copies_apart(picture(link.a)) && !has_copies_apart(picture(link.b)))
        across_.push_back({picture(link.a), picture(link.b), link.score});
    }
    add_groups();
    for (const Link& link : links) {
      if (!in_one_candidate(link) && !in_one_set(link)) add_related(link);
    }
    for (const auto& colours : connected_groups(recoloured_))
      shown_.add_informing(pictures_of(colours), GroupKind::recoloured);
    for (const Burst& burst : bursts_) shown_.add_burst(burst);
    shown_.finish(context_);
    result_.looked_at = judge_.looked_at();
  }

 private:
  std::uint32_t picture(std::uint32_t unit) const { return units_[unit].pictures[0]; }
  const CatalogPicture& data(std::uint32_t unit) const { return library_.pictures[picture(unit)].data; }

  void number_units() {
    unit_of_.assign(library_.pictures.size(), kNone);
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      for (const std::uint32_t p : units_[u].pictures) unit_of_[p] = u;
      if (u == 0 || units_[u].likeness != units_[u - 1].likeness) first_of_.push_back(u);
    }
    first_of_.push_back(static_cast<std::uint32_t>(units_.size()));
  }
  std::size_t likenesses() const { return first_of_.size() - 1; }

  void link(std::uint32_t a, std::uint32_t b, float score) {
    if (may_join(units_[a], units_[b], apart_)) {
      links_.push_back({a, b, score});
    } else if (first_that_may_join(units_[a], units_[b], apart_)) {
      partial_.push_back({a, b, score});
    }
  }

  // Units of one likeness are kept apart from each other, so that they are never in one tight group. What they have in
  // common they have with the first of them, or else with one that holds a picture that was told apart.
  void link_within(std::uint32_t likeness) {
    const std::uint32_t first = first_of_[likeness], end = first_of_[likeness + 1];
    if (end - first < 2) return;
    std::vector<std::uint32_t> hubs = {first};
    for (std::uint32_t u = first + 1; u < end && !apart_.empty(); ++u) {
      const auto& pictures = units_[u].pictures;
      const bool marked =
          std::any_of(pictures.begin(), pictures.end(), [&](std::uint32_t p) { return apart_.count(p) > 0; });
      if (marked) hubs.push_back(u);
    }
    for (std::uint32_t u = first; u < end; ++u) {
      for (const std::uint32_t hub : hubs) {
        // Of two hubs, once.
        if (hub < u || (hub > u && !std::binary_search(hubs.begin(), hubs.end(), u)))
          link(std::min(hub, u), std::max(hub, u), 1);
      }
    }
  }

  // Different shots of one burst are not tried against each other: twenty thousand frames of one may have two looks.
  void link_between(std::uint32_t x, std::uint32_t y, float score) {
    using Shot = std::pair<std::uint32_t, int>;  // a unit's only one
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

  void verify() {
    std::vector<std::uint64_t> looks;
    for (std::uint32_t i = 0; i < likenesses(); ++i) {
      looks.push_back(units_[first_of_[i]].look);
      link_within(i);
    }
    FoundLinks found = find_links(
        looks, [&](std::size_t i) { return data(first_of_[i]).codes; }, result_.rule, options_.orientations, catalog_,
        judge_, context_);
    const auto likeness = [&](std::uint64_t look) {
      return static_cast<std::uint32_t>(std::lower_bound(looks.begin(), looks.end(), look) - looks.begin());
    };
    crowds_ = std::move(found.crowds);
    for (const CatalogLink& link : found.links) {
      const auto kind = static_cast<alike::Kind>(link.kind);
      if (!options_.orientations) judge_.know(link.a, link.b, {kind, link.score});
      const std::uint32_t a = likeness(link.a), b = likeness(link.b);
      if (kind == alike::Kind::same) link_between(a, b, link.score);
      if (kind != alike::Kind::recoloured) continue;
      // They are shown in chains, for which each unit needs but one.
      for (std::uint32_t u = first_of_[a]; u < first_of_[a + 1]; ++u)
        recoloured_.push_back({u, first_of_[b], link.score});
      for (std::uint32_t u = first_of_[b]; u < first_of_[b + 1]; ++u)
        recoloured_.push_back({first_of_[a], u, link.score});
    }
  }

  // The meeting's rows are the sets of hashes that say enough.
  void apply_rule() {
    std::vector<std::uint32_t> likeness;  // of each row
    std::vector<std::uint64_t> looks;
    row_of_.assign(likenesses(), kNone);
    for (std::uint32_t i = 0; i < likenesses(); ++i) {
      if (data(first_of_[i]).quality <= kQualityGate) continue;
      row_of_[i] = static_cast<std::uint32_t>(likeness.size());
      likeness.push_back(i);
      looks.push_back(units_[first_of_[i]].look);
      link_within(i);
    }
    const auto codes = [&](std::size_t row) { return data(first_of_[likeness[row]]).codes; };
    CodeColumns columns;
    for (std::size_t row = 0; row < looks.size(); ++row) columns.add(codes(row));
    crowds_ = find_crowds(looks, columns, result_.rule, context_);
    Meeting& meeting = meeting_.emplace(result_.rule, options_.orientations, context_, &crowds_);
    const auto enter = [&](std::size_t row, std::span<const LookCodes> views) { meeting.add(looks[row], views); };
    if (options_.orientations) {
      each_turned_look(looks, codes, catalog_, context_, enter);
    } else {
      for (std::size_t row = 0; row < looks.size(); ++row) {
        const LookCodes own = codes(row);
        enter(row, {&own, 1});
      }
    }
    meeting.each_part(0, [&](std::uint32_t, std::uint32_t, const MetPairs& met) {
      for (const RowPair& pair : met.pairs) {
        const std::uint32_t x = likeness[pair.a], y = likeness[pair.b];
        if (const float s = rule_score(x, y); s >= 0) link_between(x, y, s);
      }
    });
  }

  // Of two sets of hashes, without a look at the pixels: 1 less the share of bits that differ; nothing for pictures
  // whose hashes say too little.
  float rule_score(std::uint32_t x, std::uint32_t y) const {
    if (row_of_[x] == kNone || row_of_[y] == kNone) return -1;
    if (x == y) return 1;
    const auto bits = meeting_->nearest(row_of_[x], row_of_[y]);
    if (!bits) return -1;
    return 1.0F - static_cast<float>((*bits)[0] + (*bits)[1] + (*bits)[2] + (*bits)[3]) / 256.0F;
  }

  // Of units that may stand in one group.
  std::vector<float> likeness_scores(std::span<const ItemPair> units) {
    std::vector<float> out(units.size(), 1);  // of the same pixels
    std::vector<LookPair> pairs;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const auto& [a, b] = units[i];
      if (!options_.verify) {
        out[i] = rule_score(units_[a].likeness, units_[b].likeness);
      } else if (data(a).look != data(b).look) {
        const auto [x, y] = std::minmax(data(a).look, data(b).look);
        pairs.push_back({x, y, static_cast<std::uint8_t>(options_.orientations ? 255 : 1)});
        places.push_back(i);
      }
    }
    const std::vector<Judgement> judged = judge_.judgements(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      out[places[i]] = judged[i].kind == alike::Kind::same ? judged[i].score : -1;
    return out;
  }

  // What in a crowd was not compared speaks against no group.
  enum class Crowded { all, if_compared };
  static constexpr float kNotAgainst = 2;

  bool passed_over(std::uint32_t a, std::uint32_t b) const {
    if (crowds_.empty() || !options_.verify) return false;
    const std::uint64_t x = data(a).look, y = data(b).look;
    return crowds_.holds(x) && crowds_.holds(y) &&
           !Crowds::compared(x, crowds_.levels_of(x), data(a).codes, y, crowds_.levels_of(y), data(b).codes);
  }

  std::vector<float> scores(std::span<const ItemPair> units, Crowded crowded) {
    std::vector<ItemPair> pairs;
    std::vector<std::size_t> places;
    std::vector<float> out(units.size(), -1);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const auto& [a, b] = units[i];
      if (!may_join(units_[a], units_[b], apart_)) continue;
      if (crowded == Crowded::if_compared && passed_over(a, b)) {
        out[i] = kNotAgainst;
        continue;
      }
      pairs.push_back(units[i]);
      places.push_back(i);
    }
    const std::vector<float> known = likeness_scores(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) out[places[i]] = known[i];
    return out;
  }

  // A copy that a person told apart from its like stays out.
  bool has_copies_apart(std::uint32_t picture) const {
    return library_.pictures[picture].files.size() > 1 && copies_apart_.count(picture) > 0;
  }
  bool in_one_set(const Link& link) const {
    const auto a = set_of_.find(picture(link.a)), b = set_of_.find(picture(link.b));
    return a != set_of_.end() && b != set_of_.end() && a->second == b->second;
  }

  // The files that might stand in a group together.
  void add_candidate(const std::vector<std::uint32_t>& units) {
    std::vector<std::uint32_t> files;
    for (const std::uint32_t u : units) {
      for (const std::uint32_t p : units_[u].pictures) {
        if (has_copies_apart(p)) continue;
        files.insert(files.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
      }
    }
    if (files.size() < 2) return;
    if (std::all_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; })) return;
    candidate_files_.push_back(std::move(files));
  }

  // The pictures of files, in the order of the keep rule.
  Candidate in_order_of_rule(const std::vector<std::uint32_t>& files) const {
    Candidate out;
    std::set<std::uint32_t> seen;
    for (const std::uint32_t file : in_keep_order(library_, origins_, files, criteria_)) {
      const std::uint32_t p = library_.files[file].picture;
      if (seen.insert(p).second) out.push_back(p);
    }
    return out;
  }
  std::vector<std::uint32_t> files_of(const std::vector<std::uint32_t>& pictures) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t p : pictures)
      out.insert(out.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
    return out;
  }

  std::vector<Candidate> rank_candidates() {
    std::vector<std::uint32_t> all;
    for (const auto& files : candidate_files_) all.insert(all.end(), files.begin(), files.end());
    std::set<std::uint32_t> of_pairs;
    for (const Across& pair : across_) of_pairs.insert({pair.a, pair.b});
    const auto more = files_of({of_pairs.begin(), of_pairs.end()});
    all.insert(all.end(), more.begin(), more.end());
    origins_.read(all, library_, catalog_, context_);
    std::vector<Candidate> candidates;
    for (const auto& files : candidate_files_) candidates.push_back(in_order_of_rule(files));
    return candidates;
  }

  void add_groups() {
    const std::vector<Candidate> candidates = rank_candidates();
    if (!options_.verify || options_.look == "thumbnail") {
      // Nothing was looked at closely: of what only looks alike, nobody goes.
      for (const Candidate& candidate : candidates)
        shown_.add_set({candidate, {}, Lead::by_rule, false}, Told::by_bytes);
      return;
    }
    Preferences preferences;
    preferences.by_pixels = [&](std::uint32_t a, std::uint32_t b) {
      const auto best = [&](std::uint32_t picture) {
        return in_keep_order(library_, origins_, library_.pictures[picture].files, criteria_)[0];
      };
      return preference(library_, origins_, best(a), best(b), criteria_) == std::pair(-1, std::string("pixels"));
    };
    preferences.in_order = [&](const std::vector<std::uint32_t>& pictures) {
      return in_order_of_rule(files_of(pictures));
    };
    preferences.may_stand_together = [&](const std::vector<std::uint32_t>& some,
                                         const std::vector<std::uint32_t>& others) {
      const auto units_of = [&](const std::vector<std::uint32_t>& pictures) {
        std::set<std::uint32_t> units;
        for (const std::uint32_t p : pictures) units.insert(unit_of_[p]);
        return units;
      };
      const auto second = units_of(others);
      for (const std::uint32_t a : units_of(some)) {
        for (const std::uint32_t b : second) {
          if (a != b && !may_join(units_[a], units_[b], apart_)) return false;
        }
      }
      return true;
    };
    const Suggested suggested =
        suggest(candidates, across_, library_, origins_,
                {[&](PicturePairs pairs) {
                   std::vector<ItemPair> units;
                   for (const auto& [a, b] : pairs) units.emplace_back(unit_of_[a], unit_of_[b]);
                   return likeness_scores(units);
                 },
                 [&](std::uint32_t a, std::uint32_t b) {
                   const auto bits = distances(library_.pictures[a].data.codes, library_.pictures[b].data.codes);
                   return std::accumulate(bits.begin(), bits.end(), 0);
                 }},
                preferences, looks_);
    for (std::size_t s = 0; s < suggested.sets.size(); ++s) {
      for (const std::uint32_t p : suggested.sets[s].pictures) set_of_.emplace(p, s);
      shown_.add_set(suggested.sets[s], Told::closely);
    }
    shown_.add_beside(suggested.beside);
    result_.not_looked = suggested.not_looked;
    result_.looked_closely = looks_.looked_at();
  }

  std::vector<std::uint32_t> pictures_of(const std::vector<std::uint32_t>& units) const {
    std::vector<std::uint32_t> pictures;
    for (const std::uint32_t u : units)
      pictures.insert(pictures.end(), units_[u].pictures.begin(), units_[u].pictures.end());
    return pictures;
  }

  // Of units that may not stand in one group as a whole, the first parts that may.
  void add_related(const Link& link) {
    const Unit& a = units_[link.a];
    const Unit& b = units_[link.b];
    PartPair shown{&a.pictures, &b.pictures};
    if (!may_join(a, b, apart_)) shown = first_that_may_join(a, b, apart_).value_or(shown);
    std::vector<std::uint32_t> pictures = *shown.a;
    pictures.insert(pictures.end(), shown.b->begin(), shown.b->end());
    shown_.add_informing(pictures, GroupKind::related);
  }

  const Options& options_;
  Result& result_;
  const Library& library_;
  Catalog& catalog_;
  Looks& looks_;
  RunContext& context_;
  Judge judge_;
  const std::vector<std::string> criteria_;
  Apart apart_;
  std::set<std::uint32_t> copies_apart_;  // pictures whose files a person told from each other
  std::vector<Burst> bursts_;
  std::vector<std::vector<std::uint32_t>> candidate_files_;
  std::vector<Across> across_;
  std::map<std::uint32_t, std::size_t> set_of_;  // of each picture that stands in one: looked at closely
  Origins origins_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_;   // of each picture
  std::vector<std::uint32_t> first_of_;  // the first unit of each likeness; at last how many units
  std::vector<Link> links_;              // of units that may stand in one group
  std::vector<Link> partial_;            // of units of which parts may
  std::vector<Link> recoloured_;
  Crowds crowds_;
  std::optional<Meeting> meeting_;     // where the rule itself decides
  std::vector<std::uint32_t> row_of_;  // of each likeness in it, or kNone
  ShownGroups shown_;
};

}  // namespace

void find_groups(const Options& options, Result& result, Catalog& catalog, Looks& looks, RunContext& context) {
  Grouping(options, result, catalog, looks, context).run();
}

}  // namespace millrace::dedupe
