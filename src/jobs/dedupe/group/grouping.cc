#include "src/jobs/dedupe/group/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/group/shown_groups.h"
#include "src/jobs/dedupe/group/unit_links.h"
#include "src/jobs/dedupe/suggest/union.h"

namespace millrace::dedupe {
namespace {

// Pictures to check in detail: candidate sets, and pairs across them.
struct ToLookAt {
  std::vector<std::vector<std::uint32_t>> candidates;  // files
  std::vector<Across> across;
};

class Grouping {
 public:
  Grouping(const Options& options, SearchResult& result, Catalog& catalog, Looks& looks, RunContext& context)
      : options_(options),
        result_(result),
        library_(result.library),
        catalog_(catalog),
        looks_(looks),
        context_(context),
        verifier_(catalog, context),
        unit_links_(options, result.rule, library_, units_, not_duplicates_, catalog, verifier_, context),
        criteria_(keep_criteria(options.keep)),
        shown_(options, result, units_, unit_of_, origins_, criteria_, looks,
               {[this](std::span<const ItemPair> pairs) {
                  return unit_links_.scores_in_one_group(pairs, UnitLinks::Crowded::all);
                },
                [this](std::span<const ItemPair> pairs) { return unit_links_.scores(pairs); }}) {
    for (const auto& [a, b] : catalog.not_duplicates()) {
      const auto [x, end_of_x] = places_of(library_.pictures, a);
      const auto [y, end_of_y] = places_of(library_.pictures, b);
      for (std::uint32_t i = x; i < end_of_x; ++i) {
        for (std::uint32_t j = y; j < end_of_y; ++j) tell_apart(i, j);
      }
    }
  }

  // Also called without the rest, by a run that checks some of the candidate sets.
  void find_candidates() {
    bursts_ = find_bursts(library_, [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = library_.pictures[a].data.appearance, y = library_.pictures[b].data.appearance;
      if (x == y) return true;
      const AppearancePair pair{std::min(x, y), std::max(x, y)};
      return verifier_.judgements({&pair, 1})[0].kind == similarity::Kind::same;
    });
    units_ = make_units(library_, bursts_, options_.bursts == BurstMode::keep_apart,
                        options_.verify ? GroupingKey::appearances : GroupingKey::hashes, not_duplicates_);
    number_units();
    unit_links_.find();
    links_ = unit_links_.links();
    links_.insert(links_.end(), unit_links_.partial().begin(), unit_links_.partial().end());
    const auto grouped_units =
        options_.group == GroupMode::connected
            ? connected_groups(links_)
            : tight_groups(
                  anchored(unit_links_.links(), [&](std::uint32_t unit) { return is_shot_of_burst(units_[unit]); }),
                  [&](std::span<const ItemPair> pairs) {
                    return unit_links_.scores_in_one_group(pairs, UnitLinks::Crowded::if_compared);
                  },
                  [&](std::uint32_t unit) { return unit_links_.rank(unit); });
    group_of_.assign(units_.size(), kNone);
    for (std::uint32_t g = 0; g < grouped_units.size(); ++g) {
      for (const std::uint32_t u : grouped_units[g]) group_of_[u] = g;
      add_candidate(grouped_units[g]);
    }
    // Units that match no other may still hold copies.
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      if (group_of_[u] == kNone && units_[u].files > 1) add_candidate({u});
    }
    for (const Link& link : unit_links_.links()) {
      if (!in_one_candidate(link) && !has_copies_apart(picture(link.a)) && !has_copies_apart(picture(link.b)))
        found_.across.push_back({picture(link.a), picture(link.b), link.score});
    }
  }

  void run() {
    find_candidates();
    add_groups();
    for (const Link& link : links_) {
      if (!in_one_candidate(link) && !in_one_set(link)) add_related(link);
    }
    for (const auto& colours : connected_groups(unit_links_.recoloured()))
      shown_.add_informing(pictures_of(colours), GroupKind::recoloured);
    for (const Burst& burst : bursts_) shown_.add_burst(burst);
    shown_.finish(context_);
    result_.looked_at = verifier_.looked_at();
  }

  const ToLookAt& found() const { return found_; }
  Suggested look(const ToLookAt& part, Looks& looks) {
    const std::vector<Candidate> candidates = rank_candidates(part);
    return suggest_of(candidates, part.across, looks);
  }

 private:
  void tell_apart(std::uint32_t x, std::uint32_t y) {
    if (x == y) {
      copies_apart_.insert(x);
    } else if (library_.pictures[x].album == library_.pictures[y].album) {
      not_duplicates_[x].insert(y);
      not_duplicates_[y].insert(x);
    }
  }

  std::uint32_t picture(std::uint32_t unit) const { return units_[unit].pictures[0]; }
  const CatalogPicture& data(std::uint32_t unit) const { return library_.pictures[picture(unit)].data; }

  void number_units() {
    unit_of_.assign(library_.pictures.size(), kNone);
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      for (const std::uint32_t p : units_[u].pictures) unit_of_[p] = u;
    }
  }

  bool in_one_candidate(const Link& link) const {
    return group_of_[link.a] == group_of_[link.b] && group_of_[link.a] != kNone;
  }
  // A copy that a person told apart from its duplicates is left out.
  bool has_copies_apart(std::uint32_t picture) const {
    return library_.pictures[picture].files.size() > 1 && copies_apart_.count(picture) > 0;
  }
  bool in_one_set(const Link& link) const {
    const auto a = set_of_.find(picture(link.a)), b = set_of_.find(picture(link.b));
    return a != set_of_.end() && b != set_of_.end() && a->second == b->second;
  }

  // Adds the files that might be in one group.
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
    found_.candidates.push_back(std::move(files));
  }

  // Returns the pictures of the files, in the order of the keep rule.
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

  std::vector<Candidate> rank_candidates(const ToLookAt& part) {
    std::vector<std::uint32_t> all;
    for (const auto& files : part.candidates) all.insert(all.end(), files.begin(), files.end());
    std::set<std::uint32_t> of_pairs;
    for (const Across& pair : part.across) of_pairs.insert({pair.a, pair.b});
    const auto more = files_of({of_pairs.begin(), of_pairs.end()});
    all.insert(all.end(), more.begin(), more.end());
    origins_.read(all, result_.library, options_.files, catalog_, context_);
    std::vector<Candidate> candidates(part.candidates.size());
    context_.executor.parallel_for(candidates.size(), 256, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) candidates[i] = in_order_of_rule(part.candidates[i]);
    });
    context_.throw_if_cancelled();  // the loop skips the rest when cancelled
    return candidates;
  }

  void add_groups() {
    const std::vector<Candidate> candidates = rank_candidates(found_);
    if (!options_.verify || options_.look == LookMode::thumbnail) {
      // Without a detailed check, pictures that only look similar are not removable.
      std::vector<SameSet> sets;
      for (const Candidate& candidate : candidates) sets.push_back({candidate, {}, Lead::by_rule, false});
      shown_.add_sets(sets, Told::by_bytes, context_);
      return;
    }
    const Suggested suggested = suggest_of(candidates, found_.across, looks_);
    for (std::size_t s = 0; s < suggested.sets.size(); ++s) {
      for (const std::uint32_t p : suggested.sets[s].pictures) set_of_.emplace(p, s);
    }
    shown_.add_sets(suggested.sets, Told::closely, context_);
    shown_.add_beside(suggested.beside);
    result_.not_looked = suggested.not_looked;
    result_.looked_closely = looks_.looked_at();
  }

  Suggested suggest_of(const std::vector<Candidate>& candidates, const std::vector<Across>& across, Looks& looks) {
    Preferences preferences;
    preferences.preferred_by = [&](std::uint32_t a, std::uint32_t b) {
      const auto best = [&](std::uint32_t picture) {
        return in_keep_order(library_, origins_, library_.pictures[picture].files, criteria_)[0];
      };
      const auto [order, criterion] = preference(library_, origins_, best(a), best(b), criteria_);
      return order < 0 ? criterion : std::string();
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
          if (a != b && !may_join(units_[a], units_[b], not_duplicates_)) return false;
        }
      }
      return true;
    };
    return suggest(candidates, across, library_, origins_,
                   {[&](PicturePairs pairs) {
                      std::vector<ItemPair> units;
                      for (const auto& [a, b] : pairs) units.emplace_back(unit_of_[a], unit_of_[b]);
                      return unit_links_.scores(units);
                    },
                    [&](std::uint32_t a, std::uint32_t b) {
                      const auto bits = distances(library_.pictures[a].data.codes, library_.pictures[b].data.codes);
                      return std::accumulate(bits.begin(), bits.end(), 0);
                    }},
                   preferences, looks);
  }

  std::vector<std::uint32_t> pictures_of(const std::vector<std::uint32_t>& units) const {
    std::vector<std::uint32_t> pictures;
    for (const std::uint32_t u : units)
      pictures.insert(pictures.end(), units_[u].pictures.begin(), units_[u].pictures.end());
    return pictures;
  }

  // Adds a related pair. If the whole units may not be in one group, it shows their first parts that may.
  void add_related(const Link& link) {
    const Unit& a = units_[link.a];
    const Unit& b = units_[link.b];
    PartPair shown{&a.pictures, &b.pictures};
    if (!may_join(a, b, not_duplicates_)) shown = first_that_may_join(a, b, not_duplicates_).value_or(shown);
    std::vector<std::uint32_t> pictures = *shown.a;
    pictures.insert(pictures.end(), shown.b->begin(), shown.b->end());
    shown_.add_informing(pictures, GroupKind::related);
  }

  const Options& options_;
  SearchResult& result_;
  const Library& library_;
  Catalog& catalog_;
  Looks& looks_;
  RunContext& context_;
  PairVerifier verifier_;
  UnitLinks unit_links_;
  const std::vector<std::string> criteria_;
  NotDuplicates not_duplicates_;
  std::set<std::uint32_t> copies_apart_;  // pictures whose copies a person told apart
  std::vector<Burst> bursts_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> group_of_;  // of each unit
  ToLookAt found_;
  std::map<std::uint32_t, std::size_t> set_of_;  // set of each picture that was checked in detail
  Origins origins_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_;  // of each picture
  ShownGroups shown_;
};

// Sets that candidates and pairs connect, in the order of their first picture.
class Sets : public LookSets {
 public:
  Sets(const Options& options, SearchResult& result, Catalog& catalog, RunContext& context)
      : library_(result.library), grouping_(options, result, catalog, none_, context) {
    grouping_.find_candidates();
    const ToLookAt& found = grouping_.found();
    Union joined(library_.pictures.size());
    std::set<std::uint32_t> members;
    for (const auto& files : found.candidates) {
      for (const std::uint32_t file : files) joined.join(picture_of(files[0]), picture_of(file));
    }
    for (const Across& pair : found.across) joined.join(pair.a, pair.b);
    std::map<std::size_t, ToLookAt> sets;
    const auto set_of = [&](std::uint32_t picture) -> ToLookAt& { return sets[joined.root(picture)]; };
    for (const auto& files : found.candidates) set_of(picture_of(files[0])).candidates.push_back(files);
    for (const Across& pair : found.across) set_of(pair.a).across.push_back(pair);
    for (auto& [first, set] : sets) sets_.push_back(std::move(set));
  }

  std::size_t count() const override { return sets_.size(); }
  ContentHash identity() const override {
    std::string all;
    // The hash covers all properties of a file that the keep rule compares.
    const auto add_file = [&](std::uint32_t number) {
      const File& file = library_.files[number];
      const ContentHash& content = library_.pictures[file.picture].data.content;
      all.append(content.begin(), content.end());
      all += file.entry.path + '\0';
      all += fmt::format(" {} {} {}\n", file.entry.mtime_ns, file.reference, file.preferred);
    };
    const auto add = [&](std::uint32_t picture) {
      for (const std::uint32_t file : library_.pictures[picture].files) add_file(file);
    };
    for (const ToLookAt& set : sets_) {
      for (const auto& files : set.candidates) {
        for (const std::uint32_t file : files) add_file(file);
        all += '|';
      }
      for (const Across& pair : set.across) {
        add(pair.a);
        add(pair.b);
      }
      all += '\n';
    }
    return content_hash(all);
  }
  void look(std::size_t begin, std::size_t end, Looks& looks) override {
    ToLookAt part;
    for (std::size_t i = begin; i < end; ++i) {
      part.candidates.insert(part.candidates.end(), sets_[i].candidates.begin(), sets_[i].candidates.end());
      part.across.insert(part.across.end(), sets_[i].across.begin(), sets_[i].across.end());
    }
    grouping_.look(part, looks);
  }

 private:
  struct NoLooks : Looks {
    void look(std::span<const PicturePair>) override {}
    const CloseLook* find(std::uint32_t, std::uint32_t) const override { return nullptr; }
    std::uint64_t looked_at() const override { return 0; }
  };
  std::uint32_t picture_of(std::uint32_t file) const { return library_.files[file].picture; }

  const Library& library_;
  NoLooks none_;
  Grouping grouping_;
  std::vector<ToLookAt> sets_;
};

}  // namespace

std::unique_ptr<LookSets> find_look_sets(const Options& options, SearchResult& result, Catalog& catalog,
                                         RunContext& context) {
  return std::make_unique<Sets>(options, result, catalog, context);
}

void find_groups(const Options& options, SearchResult& result, Catalog& catalog, Looks& looks, RunContext& context) {
  Grouping(options, result, catalog, looks, context).run();
}

}  // namespace millrace::dedupe
