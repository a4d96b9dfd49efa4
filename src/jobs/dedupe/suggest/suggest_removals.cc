#include "src/jobs/dedupe/suggest/suggest_removals.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/jobs/dedupe/suggest/disjoint_sets.h"

namespace millrace::dedupe {
namespace {

// docs/design/dense-groups.md gives the reasons for the constants of this file.
constexpr int kMaxKeeperChanges = 2;

// A candidate set in progress: its current keeper, and the pictures that remain.
struct OpenSet {
  std::vector<std::uint32_t> left;  // remaining pictures, in the order of the rule
  std::uint32_t keeper = 0;
  int keepers = 0, keeper_changes = 0;
  KeepReason keep_reason = KeepReason::by_rule;
  bool fresh = true;  // false once pictures of it were added to `related_pictures`
};

class RemovalSuggester {
 public:
  RemovalSuggester(const Library& library, const Origins& origins, const Similarity64& similarity,
                   const KeepPreferences& preferences, PairComparator& comparator)
      : relations_(library, origins, preferences.preferred_by, comparator),
        similarity_(similarity),
        preferences_(preferences),
        library_(library),
        comparator_(comparator) {}

  // Most candidate sets are copies of one picture: the best one is the keeper, and the set is done. If many pictures
  // remain after a few keepers, each is checked against those most similar to it. The sets that result get keepers
  // again.
  RemovalSuggestions run(const std::vector<CandidateSet>& candidates, const std::vector<CrossSetPair>& across) {
    std::vector<OpenSet> many;
    std::vector<OpenSet> open;
    const auto few_keepers = [&](OpenSet work) {
      (work.keepers < kFirstKeepers || work.left.size() <= 2 ? open : many).push_back(std::move(work));
    };
    for (const CandidateSet& candidate : candidates) {
      OpenSet work;
      work.left = candidate;
      open.push_back(std::move(work));
    }
    choose_keepers(open, few_keepers);
    for (OpenSet& part : cluster_nearest(many)) open.push_back(std::move(part));
    const auto more_keepers = [&](OpenSet work, std::vector<OpenSet>& to) {
      if (work.keepers < kMaxKeepers) return to.push_back(std::move(work));
      add_single_sets(work.left, true);
    };
    choose_keepers(open, [&](OpenSet work) { more_keepers(std::move(work), open); });
    join_sets(across, more_keepers);
    out_.unchecked_pictures = unchecked_.size();
    return std::move(out_);
  }

 private:
  void add_single_sets(const std::vector<std::uint32_t>& pictures, bool unchecked_pictures) {
    for (const std::uint32_t p : pictures) {
      out_.sets.push_back({{p}, {}, KeepReason::by_rule, false});
      if (unchecked_pictures) unchecked_.insert(p);
    }
  }

  // Chooses and checks keepers in rounds until no picture remains; `go_on` receives the pictures that a keeper leaves
  // over.
  template <class GoOn>
  void choose_keepers(std::vector<OpenSet>& open, const GoOn& go_on) {
    while (!open.empty()) {
      std::vector<OpenSet> now = std::move(open);
      open.clear();
      std::vector<PicturePair> pairs;
      for (OpenSet& work : now) {
        if (work.keeper_changes == 0) {
          work.keeper = work.left[0];
          ++work.keepers;
        }
        for (const std::uint32_t p : work.left) {
          if (p != work.keeper) pairs.emplace_back(work.keeper, p);
        }
      }
      comparator_.check(pairs);
      for (OpenSet& work : now) form_set(work, open, go_on);
    }
  }

  // Checks each picture against those most similar to it at 64 pixels, and forms sets of those that are the same in
  // chains.
  std::vector<OpenSet> cluster_nearest(const std::vector<OpenSet>& many) {
    std::vector<std::vector<PicturePair>> near;  // of each picture
    std::vector<PicturePair> pairs;
    for (const OpenSet& work : many) {
      near.push_back(find_nearest_pairs(work.left));
      pairs.insert(pairs.end(), near.back().begin(), near.back().end());
    }
    comparator_.check(pairs);
    std::vector<OpenSet> parts;
    for (std::size_t w = 0; w < many.size(); ++w) {
      const OpenSet& work = many[w];
      std::map<std::uint32_t, std::size_t> at;
      for (std::size_t i = 0; i < work.left.size(); ++i) at.emplace(work.left[i], i);
      DisjointSets together(work.left.size());
      for (const auto& [a, b] : near[w]) {
        if (relations_.is_same_picture(a, b)) together.join(at.at(a), at.at(b));
      }
      std::map<std::size_t, OpenSet> by_root;  // in the order of the rule, like the first of each
      for (std::size_t i = 0; i < work.left.size(); ++i) by_root[together.find_root(i)].left.push_back(work.left[i]);
      for (auto& [root, part] : by_root) {
        part.fresh = false;
        if (part.left.size() > 1) {
          parts.push_back(std::move(part));
        } else {
          add_single_sets(part.left, work.left.size() > kNearest + 1);
        }
      }
    }
    return parts;
  }

  // Returns the pairs of the most similar sets: for each set its kNearestSets best.
  std::set<std::pair<std::size_t, std::size_t>> find_nearest_sets(const std::vector<CrossSetPair>& across) {
    std::map<std::uint32_t, std::size_t> set_of;
    for (std::size_t s = 0; s < out_.sets.size(); ++s) {
      for (const std::uint32_t p : out_.sets[s].pictures) set_of.emplace(p, s);
    }
    const auto set_with = [&](std::uint32_t p) {
      const auto [at, fresh] = set_of.emplace(p, out_.sets.size());
      if (fresh) add_single_sets({p}, false);
      return at->second;
    };
    std::map<std::size_t, std::map<std::size_t, float>> scores;  // best score of each pair of sets that match
    for (const auto& [a, b, score] : across) {
      const std::size_t x = set_with(a), y = set_with(b);
      if (x == y) continue;
      for (const auto& [one, other] : {std::pair(x, y), std::pair(y, x)}) {
        const auto [at, fresh] = scores[one].emplace(other, score);
        if (!fresh) at->second = std::max(at->second, score);
      }
    }
    std::set<std::pair<std::size_t, std::size_t>> out;
    std::vector<std::pair<float, std::size_t>> others;
    for (const auto& [one, found] : scores) {
      others.clear();
      for (const auto& [other, score] : found) others.emplace_back(-score, other);
      std::sort(others.begin(), others.end());
      others.resize(std::min(others.size(), kNearestSets));
      for (const auto& [score, other] : others) out.emplace(std::min(one, other), std::max(one, other));
    }
    return out;
  }

  // Returns the number of removable pictures.
  static std::size_t count_removable(std::span<const DuplicateSet> sets) {
    std::size_t count = 0;
    for (const DuplicateSet& set : sets) count += set.pictures.size() - 1 - set.also_kept.size();
    return count;
  }

  // Joins sets whose keepers are the same, if more pictures become removable by that. A member that is the same as one
  // keeper need not be the same as the other.
  template <class GoOn>
  void join_sets(const std::vector<CrossSetPair>& across, const GoOn& go_on) {
    auto near = find_nearest_sets(across);
    std::vector<std::vector<std::uint32_t>> members;
    for (const DuplicateSet& set : out_.sets) members.push_back(set.pictures);
    const auto apart = [&](const auto& pair) {
      return !preferences_.can_be_grouped(members[pair.first], members[pair.second]);
    };
    std::erase_if(near, apart);
    const auto keeper_of = [&](std::size_t set) { return out_.sets[set].pictures[0]; };
    std::vector<PicturePair> pairs;
    for (const auto& [x, y] : near) pairs.emplace_back(keeper_of(x), keeper_of(y));
    comparator_.check(pairs);
    DisjointSets together(members.size());
    std::vector<std::pair<std::size_t, RelatedPicture>> related_pictures;  // with the set of the keeper
    std::map<std::uint32_t, std::size_t> set_of;                           // of each keeper
    for (const auto& [x, y] : near) {
      const CandidateSet two = preferences_.sort_pictures({keeper_of(x), keeper_of(y)});
      set_of.insert({{keeper_of(x), x}, {keeper_of(y), y}});
      if (!relations_.is_same_picture(two[0], two[1])) {
        const GroupKind kind = relations_.derive_group_kind(two[0], two[1]);
        if (kind != GroupKind::related) related_pictures.push_back({set_of.at(two[0]), {two[0], two[1], kind}});
        continue;
      }
      const std::size_t one = together.find_root(x), other = together.find_root(y);
      if (one == other || !preferences_.can_be_grouped(members[one], members[other])) continue;
      together.join(one, other);
      auto& all = members[std::min(one, other)];
      const auto& more = members[std::max(one, other)];
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const auto& [set, b] : related_pictures) {
      if (together.find_root(set) != together.find_root(set_of.at(b.picture))) out_.related_pictures.push_back(b);
    }
    choose_joined_keepers(members, together, go_on);
  }

  template <class GoOn>
  void choose_joined_keepers(const std::vector<std::vector<std::uint32_t>>& members, DisjointSets& together,
                             const GoOn& go_on) {
    std::map<std::size_t, std::vector<DuplicateSet>> before;  // sets of each root
    for (std::size_t s = 0; s < members.size(); ++s) before[together.find_root(s)].push_back(std::move(out_.sets[s]));
    out_.sets.clear();
    std::map<std::size_t, CandidateSet> joined;
    std::vector<PicturePair> pairs;
    for (const auto& [root, sets] : before) {
      if (sets.size() == 1) continue;
      const CandidateSet& all = joined[root] = preferences_.sort_pictures(members[root]);
      for (const std::uint32_t p : all) {
        if (p != all[0]) pairs.emplace_back(all[0], p);
      }
    }
    comparator_.check(pairs);  // checks all at once: the rounds that follow need few more
    for (auto& [root, sets] : before) {
      const std::size_t first = out_.sets.size();
      if (sets.size() > 1) {
        std::set<std::uint32_t> unchecked_pictures = std::exchange(unchecked_, {});
        std::vector<OpenSet> open(1);
        open[0].left = joined.at(root);
        open[0].fresh = false;
        choose_keepers(open, [&](OpenSet work) { go_on(std::move(work), open); });
        const bool better = count_removable(std::span(out_.sets).subspan(first)) > count_removable(sets);
        if (better) unchecked_pictures.merge(unchecked_);
        unchecked_ = std::move(unchecked_pictures);
        if (better) continue;
      }
      out_.sets.resize(first);
      for (DuplicateSet& set : sets) out_.sets.push_back(std::move(set));
    }
  }

  // Frames of one video have one size; a copy of one of them usually has another.
  bool has_same_size(std::uint32_t a, std::uint32_t b) const {
    const CatalogPicture &x = library_.pictures[a].data, &y = library_.pictures[b].data;
    return std::minmax(x.width, x.height) == std::minmax(y.width, y.height);
  }

  // Adds the first pictures of `others`, which hold the difference from `picture`, and then the first ones of another
  // size.
  template <class Unlike>
  void add_nearest(std::uint32_t picture, std::vector<std::pair<Unlike, std::uint32_t>>& others, std::size_t most,
                   std::size_t most_of_other_size, std::set<PicturePair>& out) const {
    std::sort(others.begin(), others.end());
    std::size_t taken = 0, taken_of_other_size = 0;
    for (const auto& other : others) {
      const bool other_size = taken >= most && !has_same_size(picture, other.second);
      if (taken >= most && !(other_size && taken_of_other_size < most_of_other_size)) continue;
      (other_size ? taken_of_other_size : taken) += 1;
      out.insert(std::minmax(picture, other.second));
    }
  }

  // Returns all pairs, or for many pictures only the pairs whose hashes differ least.
  std::vector<PicturePair> select_scored_pairs(const std::vector<std::uint32_t>& pictures) const {
    std::set<PicturePair> out;
    const bool all_pairs = pictures.size() <= kMaxAllPairs;
    std::vector<std::pair<int, std::uint32_t>> others;
    for (const std::uint32_t p : pictures) {
      others.clear();
      for (const std::uint32_t q : pictures) {
        if (q != p) others.emplace_back(all_pairs ? 0 : similarity_.bits(p, q), q);
      }
      add_nearest(p, others, all_pairs ? others.size() : kNearestByHash, kNearestByHash, out);
    }
    return {out.begin(), out.end()};
  }

  // Returns the pairs of each picture with those most similar to it, the lower index first, each pair once.
  std::vector<PicturePair> find_nearest_pairs(const std::vector<std::uint32_t>& pictures) const {
    const std::vector<PicturePair> pairs = select_scored_pairs(pictures);
    const std::vector<float> scores = similarity_.scores(pairs);
    std::map<std::uint32_t, std::vector<std::pair<float, std::uint32_t>>> others;  // of each picture
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      others[pairs[i].first].emplace_back(-scores[i], pairs[i].second);
      others[pairs[i].second].emplace_back(-scores[i], pairs[i].first);
    }
    std::set<PicturePair> out;
    for (auto& [p, list] : others) add_nearest(p, list, kNearest, kNearestOfOtherSize, out);
    return {out.begin(), out.end()};
  }

  template <class GoOn>
  void form_set(OpenSet& work, std::vector<OpenSet>& open, const GoOn& go_on) {
    const auto check = [&](std::uint32_t p) { return comparator_.find(work.keeper, p); };
    // A picture with more to show becomes the keeper, and all others are checked against it.
    if (work.keeper_changes < kMaxKeeperChanges) {
      if (const auto better = relations_.find_better_keeper(work.keeper, work.keep_reason, work.left)) {
        work.keeper = better->picture;
        work.keep_reason = better->why;
        ++work.keeper_changes;
        open.push_back(std::move(work));
        return;
      }
    }
    DuplicateSet set;
    set.pictures.push_back(work.keeper);
    set.keep_reason = work.keep_reason;
    set.same_pixels = true;
    // Splits the rest in two: pictures that differ from the keeper, and altered versions of it. They need not be
    // checked against each other, since copies of one picture have the same relation to the keeper.
    std::map<bool, OpenSet> rest;
    for (const std::uint32_t p : work.left) {
      if (p == work.keeper) continue;
      if (relations_.is_kept_as_same_shot(work.keeper, p)) {
        set.pictures.push_back(p);
        set.also_kept.push_back({p, "the same shot as"});
        set.same_pixels = false;
        continue;
      }
      switch (relations_.find_relation(work.keeper, p)) {
        case RelationToKeeper::same:
          set.pictures.push_back(p);
          set.same_pixels = set.same_pixels && check(p)->same_pixels;
          continue;
        case RelationToKeeper::contains:
        case RelationToKeeper::shows_more:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "shows more than"});
          set.same_pixels = false;
          continue;
        case RelationToKeeper::has_more_detail:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "has more detail than"});
          set.same_pixels = false;
          continue;
        case RelationToKeeper::other:
        case RelationToKeeper::unchecked:
          break;
      }
      if (relations_.find_relation(work.keeper, p) == RelationToKeeper::unchecked) unchecked_.insert(p);
      if (work.fresh) out_.related_pictures.push_back({work.keeper, p, relations_.derive_group_kind(work.keeper, p)});
      rest[check(p) == nullptr || check(p)->kind == detailed_check::DifferenceKind::different].left.push_back(p);
    }
    out_.sets.push_back(std::move(set));
    for (auto& [another, part] : rest) {
      if (part.left.size() == 1) {
        add_single_sets(part.left, false);
        continue;
      }
      part.keepers = work.keepers;
      part.fresh = false;
      go_on(std::move(part));
    }
  }

  const KeeperRelations relations_;
  const Similarity64& similarity_;
  const KeepPreferences& preferences_;
  const Library& library_;
  PairComparator& comparator_;
  RemovalSuggestions out_;
  std::set<std::uint32_t> unchecked_;
};

}  // namespace

RemovalSuggestions suggest_removals(const std::vector<CandidateSet>& candidates,
                                    const std::vector<CrossSetPair>& across, const Library& library,
                                    const Origins& origins, const Similarity64& similarity,
                                    const KeepPreferences& preferences, PairComparator& comparator) {
  return RemovalSuggester(library, origins, similarity, preferences, comparator).run(candidates, across);
}

}  // namespace millrace::dedupe
