#include "src/jobs/dedupe/group/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "src/jobs/dedupe/group/appearance_group_links.h"
#include "src/jobs/dedupe/group/group_builder.h"
#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/suggest/disjoint_sets.h"

namespace millrace::dedupe {
namespace {

// Pictures to check in detail: candidate sets, and pairs across them.
struct VerificationQueue {
  std::vector<std::vector<std::uint32_t>> candidates;  // files
  std::vector<CrossSetPair> across;
};

class Grouping {
 public:
  Grouping(const DedupeOptions& options, SearchResult& result, Catalog& catalog, PairComparator& comparator,
           RunContext& context)
      : options_(options),
        result_(result),
        library_(result.library),
        catalog_(catalog),
        comparator_(comparator),
        context_(context),
        thumbnail_comparator_(catalog, context),
        appearance_group_links_(options, result.rule, library_, appearance_groups_, confirmed_distinct_, catalog,
                                thumbnail_comparator_, context),
        criteria_(parse_keep_criteria(options.keep)),
        group_builder_(
            options, result, appearance_groups_, appearance_group_of_, origins_, criteria_, comparator,
            {[this](std::span<const ItemPair> pairs) {
               return appearance_group_links_.score_joinable_pairs(pairs, AppearanceGroupLinks::DensePairs::all);
             },
             [this](std::span<const ItemPair> pairs) { return appearance_group_links_.score_pairs(pairs); }}) {
    for (const auto& [a, b] : catalog.confirmed_distinct()) {
      const auto [x, end_of_x] = find_picture_range(library_.pictures, a);
      const auto [y, end_of_y] = find_picture_range(library_.pictures, b);
      for (std::uint32_t i = x; i < end_of_x; ++i) {
        for (std::uint32_t j = y; j < end_of_y; ++j) add_confirmed_distinct(i, j);
      }
    }
  }

  // Also called without the rest, by a run that checks some of the candidate sets.
  void find_candidates() {
    bursts_ = find_bursts(library_, [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t x = library_.pictures[a].data.thumbnail_digest,
                          y = library_.pictures[b].data.thumbnail_digest;
      if (x == y) return true;
      const AppearancePair pair{std::min(x, y), std::max(x, y)};
      return thumbnail_comparator_.compare_and_store({&pair, 1})[0].kind == similarity::SimilarityKind::same;
    });
    appearance_groups_ =
        make_appearance_groups(library_, bursts_, options_.bursts == BurstMode::keep_apart,
                               options_.verify ? GroupingKey::appearances : GroupingKey::hashes, confirmed_distinct_);
    index_appearance_groups();
    appearance_group_links_.find();
    links_ = appearance_group_links_.links();
    links_.insert(links_.end(), appearance_group_links_.partial_links().begin(),
                  appearance_group_links_.partial_links().end());
    const auto linked_sets =
        options_.group == GroupMode::connected
            ? find_connected_groups(links_)
            : find_tight_groups(
                  boost_anchor_links(appearance_group_links_.links(),
                                     [&](std::uint32_t appearance_group) {
                                       return is_shot_of_burst(appearance_groups_[appearance_group]);
                                     }),
                  [&](std::span<const ItemPair> pairs) {
                    return appearance_group_links_.score_joinable_pairs(pairs,
                                                                        AppearanceGroupLinks::DensePairs::if_compared);
                  },
                  [&](std::uint32_t appearance_group) { return appearance_group_links_.rank(appearance_group); });
    group_of_.assign(appearance_groups_.size(), kNone);
    for (std::uint32_t g = 0; g < linked_sets.size(); ++g) {
      for (const std::uint32_t u : linked_sets[g]) group_of_[u] = g;
      add_candidate(linked_sets[g]);
    }
    // Appearance groups that match no other may still hold copies.
    for (std::uint32_t u = 0; u < appearance_groups_.size(); ++u) {
      if (group_of_[u] == kNone && appearance_groups_[u].files > 1) add_candidate({u});
    }
    for (const ItemLink& link : appearance_group_links_.links()) {
      if (!in_one_candidate(link) && !has_distinct_copies(picture(link.a)) && !has_distinct_copies(picture(link.b)))
        found_.across.push_back({picture(link.a), picture(link.b), link.score});
    }
  }

  void run() {
    find_candidates();
    add_groups();
    for (const ItemLink& link : links_) {
      if (!in_one_candidate(link) && !in_one_set(link)) add_related(link);
    }
    for (const auto& colours : find_connected_groups(appearance_group_links_.recoloured()))
      group_builder_.add_informational_group(pictures_of(colours), GroupKind::recoloured);
    for (const Burst& burst : bursts_) group_builder_.add_burst(burst);
    group_builder_.finish(context_);
    result_.compared_pairs = thumbnail_comparator_.compared_pairs();
  }

  const VerificationQueue& found() const { return found_; }
  RemovalSuggestions check(const VerificationQueue& part, PairComparator& comparator) {
    const std::vector<CandidateSet> candidates = rank_candidates(part);
    return suggest_of(candidates, part.across, comparator);
  }

 private:
  void add_confirmed_distinct(std::uint32_t x, std::uint32_t y) {
    if (x == y) {
      distinct_copies_.insert(x);
    } else if (library_.pictures[x].album == library_.pictures[y].album) {
      confirmed_distinct_[x].insert(y);
      confirmed_distinct_[y].insert(x);
    }
  }

  std::uint32_t picture(std::uint32_t appearance_group) const {
    return appearance_groups_[appearance_group].pictures[0];
  }
  const CatalogPicture& data(std::uint32_t appearance_group) const {
    return library_.pictures[picture(appearance_group)].data;
  }

  void index_appearance_groups() {
    appearance_group_of_.assign(library_.pictures.size(), kNone);
    for (std::uint32_t u = 0; u < appearance_groups_.size(); ++u) {
      for (const std::uint32_t p : appearance_groups_[u].pictures) appearance_group_of_[p] = u;
    }
  }

  bool in_one_candidate(const ItemLink& link) const {
    return group_of_[link.a] == group_of_[link.b] && group_of_[link.a] != kNone;
  }
  // A copy that a person confirmed as distinct from its duplicates is left out.
  bool has_distinct_copies(std::uint32_t picture) const {
    return library_.pictures[picture].files.size() > 1 && distinct_copies_.count(picture) > 0;
  }
  bool in_one_set(const ItemLink& link) const {
    const auto a = set_of_.find(picture(link.a)), b = set_of_.find(picture(link.b));
    return a != set_of_.end() && b != set_of_.end() && a->second == b->second;
  }

  // Adds the files that might be in one group.
  void add_candidate(const std::vector<std::uint32_t>& appearance_groups) {
    std::vector<std::uint32_t> files;
    for (const std::uint32_t u : appearance_groups) {
      for (const std::uint32_t p : appearance_groups_[u].pictures) {
        if (has_distinct_copies(p)) continue;
        files.insert(files.end(), library_.pictures[p].files.begin(), library_.pictures[p].files.end());
      }
    }
    if (files.size() < 2) return;
    if (std::all_of(files.begin(), files.end(), [&](std::uint32_t f) { return library_.files[f].reference; })) return;
    found_.candidates.push_back(std::move(files));
  }

  // Returns the pictures of the files, in the order of the keep rule.
  CandidateSet in_order_of_rule(const std::vector<std::uint32_t>& files) const {
    CandidateSet out;
    std::set<std::uint32_t> seen;
    for (const std::uint32_t file : sort_by_keep_rule(library_, origins_, files, criteria_)) {
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

  std::vector<CandidateSet> rank_candidates(const VerificationQueue& part) {
    std::vector<std::uint32_t> all;
    for (const auto& files : part.candidates) all.insert(all.end(), files.begin(), files.end());
    std::set<std::uint32_t> of_pairs;
    for (const CrossSetPair& pair : part.across) of_pairs.insert({pair.a, pair.b});
    const auto more = files_of({of_pairs.begin(), of_pairs.end()});
    all.insert(all.end(), more.begin(), more.end());
    origins_.read(all, result_.library, options_.files, catalog_, context_);
    std::vector<CandidateSet> candidates(part.candidates.size());
    context_.executor.parallel_for(candidates.size(), 256, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) candidates[i] = in_order_of_rule(part.candidates[i]);
    });
    context_.throw_if_cancelled();  // the loop skips the rest when cancelled
    return candidates;
  }

  void add_groups() {
    const std::vector<CandidateSet> candidates = rank_candidates(found_);
    if (!options_.verify || options_.check == CheckMode::thumbnail) {
      // Without a detailed check, pictures that only look similar are not removable.
      std::vector<DuplicateSet> sets;
      for (const CandidateSet& candidate : candidates) sets.push_back({candidate, {}, KeepReason::by_rule, false});
      group_builder_.add_sets(sets, GroupEvidence::equal_bytes, context_);
      return;
    }
    const RemovalSuggestions suggested = suggest_of(candidates, found_.across, comparator_);
    for (std::size_t s = 0; s < suggested.sets.size(); ++s) {
      for (const std::uint32_t p : suggested.sets[s].pictures) set_of_.emplace(p, s);
    }
    group_builder_.add_sets(suggested.sets, GroupEvidence::detailed_check, context_);
    group_builder_.add_related_pictures(suggested.related_pictures);
    result_.unchecked_pictures = suggested.unchecked_pictures;
    result_.checked_pairs = comparator_.compared_pairs();
  }

  RemovalSuggestions suggest_of(const std::vector<CandidateSet>& candidates, const std::vector<CrossSetPair>& across,
                                PairComparator& comparator) {
    KeepPreferences preferences;
    preferences.preferred_by = [&](std::uint32_t a, std::uint32_t b) {
      const auto best = [&](std::uint32_t picture) {
        return sort_by_keep_rule(library_, origins_, library_.pictures[picture].files, criteria_)[0];
      };
      const auto [order, criterion] = compare_by_keep_rule(library_, origins_, best(a), best(b), criteria_);
      return order < 0 ? criterion : std::string();
    };
    preferences.sort_pictures = [&](const std::vector<std::uint32_t>& pictures) {
      return in_order_of_rule(files_of(pictures));
    };
    preferences.can_be_grouped = [&](const std::vector<std::uint32_t>& some, const std::vector<std::uint32_t>& others) {
      const auto appearance_groups_of = [&](const std::vector<std::uint32_t>& pictures) {
        std::set<std::uint32_t> appearance_groups;
        for (const std::uint32_t p : pictures) appearance_groups.insert(appearance_group_of_[p]);
        return appearance_groups;
      };
      const auto second = appearance_groups_of(others);
      for (const std::uint32_t a : appearance_groups_of(some)) {
        for (const std::uint32_t b : second) {
          if (a != b && !can_join(appearance_groups_[a], appearance_groups_[b], confirmed_distinct_)) return false;
        }
      }
      return true;
    };
    return suggest_removals(candidates, across, library_, origins_,
                            {[&](PicturePairs pairs) {
                               std::vector<ItemPair> appearance_groups;
                               for (const auto& [a, b] : pairs)
                                 appearance_groups.emplace_back(appearance_group_of_[a], appearance_group_of_[b]);
                               return appearance_group_links_.score_pairs(appearance_groups);
                             },
                             [&](std::uint32_t a, std::uint32_t b) {
                               const auto bits =
                                   distances(library_.pictures[a].data.codes, library_.pictures[b].data.codes);
                               return std::accumulate(bits.begin(), bits.end(), 0);
                             }},
                            preferences, comparator);
  }

  std::vector<std::uint32_t> pictures_of(const std::vector<std::uint32_t>& appearance_groups) const {
    std::vector<std::uint32_t> pictures;
    for (const std::uint32_t u : appearance_groups)
      pictures.insert(pictures.end(), appearance_groups_[u].pictures.begin(), appearance_groups_[u].pictures.end());
    return pictures;
  }

  // Adds a related pair. If the whole appearance groups may not be in one group, it shows their first parts that may.
  void add_related(const ItemLink& link) {
    const AppearanceGroup& a = appearance_groups_[link.a];
    const AppearanceGroup& b = appearance_groups_[link.b];
    AppearanceGroupPartPair shown{&a.pictures, &b.pictures};
    if (!can_join(a, b, confirmed_distinct_)) shown = find_joinable_parts(a, b, confirmed_distinct_).value_or(shown);
    std::vector<std::uint32_t> pictures = *shown.a;
    pictures.insert(pictures.end(), shown.b->begin(), shown.b->end());
    group_builder_.add_informational_group(pictures, GroupKind::related);
  }

  const DedupeOptions& options_;
  SearchResult& result_;
  const Library& library_;
  Catalog& catalog_;
  PairComparator& comparator_;
  RunContext& context_;
  ThumbnailComparator thumbnail_comparator_;
  AppearanceGroupLinks appearance_group_links_;
  const std::vector<std::string> criteria_;
  ConfirmedDistinct confirmed_distinct_;
  std::set<std::uint32_t> distinct_copies_;  // pictures whose copies a person confirmed as distinct
  std::vector<Burst> bursts_;
  std::vector<ItemLink> links_;
  std::vector<std::uint32_t> group_of_;  // of each appearance group
  VerificationQueue found_;
  std::map<std::uint32_t, std::size_t> set_of_;  // set of each picture that was checked in detail
  Origins origins_;
  std::vector<AppearanceGroup> appearance_groups_;
  std::vector<std::uint32_t> appearance_group_of_;  // of each picture
  GroupBuilder group_builder_;
};

// Sets that candidates and pairs connect, in the order of their first picture.
class LibraryCheckSets : public CheckSets {
 public:
  LibraryCheckSets(const DedupeOptions& options, SearchResult& result, Catalog& catalog, RunContext& context)
      : library_(result.library), grouping_(options, result, catalog, none_, context) {
    grouping_.find_candidates();
    const VerificationQueue& found = grouping_.found();
    DisjointSets joined(library_.pictures.size());
    std::set<std::uint32_t> members;
    for (const auto& files : found.candidates) {
      for (const std::uint32_t file : files) joined.join(picture_of(files[0]), picture_of(file));
    }
    for (const CrossSetPair& pair : found.across) joined.join(pair.a, pair.b);
    std::map<std::size_t, VerificationQueue> sets;
    const auto set_of = [&](std::uint32_t picture) -> VerificationQueue& { return sets[joined.find_root(picture)]; };
    for (const auto& files : found.candidates) set_of(picture_of(files[0])).candidates.push_back(files);
    for (const CrossSetPair& pair : found.across) set_of(pair.a).across.push_back(pair);
    for (auto& [first, set] : sets) sets_.push_back(std::move(set));
  }

  std::size_t count() const override { return sets_.size(); }
  ContentHash identity() const override {
    std::string all;
    // The hash covers all properties of a file that the keep rule compares.
    const auto add_file = [&](std::uint32_t number) {
      const LibraryFile& file = library_.files[number];
      const ContentHash& content = library_.pictures[file.picture].data.content;
      all.append(content.begin(), content.end());
      all += file.entry.path + '\0';
      all += fmt::format(" {} {} {}\n", file.entry.mtime_ns, file.reference, file.preferred);
    };
    const auto add = [&](std::uint32_t picture) {
      for (const std::uint32_t file : library_.pictures[picture].files) add_file(file);
    };
    for (const VerificationQueue& set : sets_) {
      for (const auto& files : set.candidates) {
        for (const std::uint32_t file : files) add_file(file);
        all += '|';
      }
      for (const CrossSetPair& pair : set.across) {
        add(pair.a);
        add(pair.b);
      }
      all += '\n';
    }
    return content_hash(all);
  }
  void check(std::size_t begin, std::size_t end, PairComparator& comparator) override {
    VerificationQueue part;
    for (std::size_t i = begin; i < end; ++i) {
      part.candidates.insert(part.candidates.end(), sets_[i].candidates.begin(), sets_[i].candidates.end());
      part.across.insert(part.across.end(), sets_[i].across.begin(), sets_[i].across.end());
    }
    grouping_.check(part, comparator);
  }

 private:
  struct NullComparator : PairComparator {
    void check(std::span<const PicturePair>) override {}
    const Comparison* find(std::uint32_t, std::uint32_t) const override { return nullptr; }
    std::uint64_t compared_pairs() const override { return 0; }
  };
  std::uint32_t picture_of(std::uint32_t file) const { return library_.files[file].picture; }

  const Library& library_;
  NullComparator none_;
  Grouping grouping_;
  std::vector<VerificationQueue> sets_;
};

}  // namespace

std::unique_ptr<CheckSets> find_check_sets(const DedupeOptions& options, SearchResult& result, Catalog& catalog,
                                           RunContext& context) {
  return std::make_unique<LibraryCheckSets>(options, result, catalog, context);
}

void find_groups(const DedupeOptions& options, SearchResult& result, Catalog& catalog, PairComparator& comparator,
                 RunContext& context) {
  Grouping(options, result, catalog, comparator, context).run();
}

}  // namespace millrace::dedupe
