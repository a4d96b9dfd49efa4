#include "src/jobs/dedupe/suggest/suggest.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/jobs/dedupe/suggest/union.h"

namespace millrace::dedupe {
namespace {

constexpr int kMostPromotions = 2;

// A candidate set in progress: its current leader, and the pictures that remain.
struct Work {
  std::vector<std::uint32_t> left;  // remaining pictures, in the order of the rule
  std::uint32_t leader = 0;
  int leaders = 0, promotions = 0;
  Lead lead = Lead::by_rule;
  bool fresh = true;  // false once pictures of it were added to `beside`
};

class Suggesting {
 public:
  Suggesting(const Library& library, const Origins& origins, const Similarity64& similarity,
             const Preferences& preferences, Looks& looks)
      : standings_(library, origins, preferences.preferred_by, looks),
        similarity_(similarity),
        preferences_(preferences),
        library_(library),
        looks_(looks) {}

  // Most candidate sets are copies of one picture: the best one leads, and the set is done. If many pictures remain
  // after a few leaders, each is checked against those most similar to it. The sets that result get leaders again.
  Suggested run(const std::vector<Candidate>& candidates, const std::vector<Across>& across) {
    std::vector<Work> many;
    std::vector<Work> open;
    const auto few_leaders = [&](Work work) {
      (work.leaders < kFirstLeaders || work.left.size() <= 2 ? open : many).push_back(std::move(work));
    };
    for (const Candidate& candidate : candidates) {
      Work work;
      work.left = candidate;
      open.push_back(std::move(work));
    }
    lead(open, few_leaders);
    for (Work& part : bring_together(many)) open.push_back(std::move(part));
    const auto more_leaders = [&](Work work, std::vector<Work>& to) {
      if (work.leaders < kMostLeaders) return to.push_back(std::move(work));
      alone(work.left, true);
    };
    lead(open, [&](Work work) { more_leaders(std::move(work), open); });
    join_across(across, more_leaders);
    out_.not_looked = not_looked_.size();
    return std::move(out_);
  }

 private:
  void alone(const std::vector<std::uint32_t>& pictures, bool not_looked) {
    for (const std::uint32_t p : pictures) {
      out_.sets.push_back({{p}, {}, Lead::by_rule, false});
      if (not_looked) not_looked_.insert(p);
    }
  }

  // Chooses and checks leaders in rounds until no picture remains; `go_on` takes the pictures that a leader leaves
  // over.
  template <class GoOn>
  void lead(std::vector<Work>& open, const GoOn& go_on) {
    while (!open.empty()) {
      std::vector<Work> now = std::move(open);
      open.clear();
      std::vector<PicturePair> pairs;
      for (Work& work : now) {
        if (work.promotions == 0) {
          work.leader = work.left[0];
          ++work.leaders;
        }
        for (const std::uint32_t p : work.left) {
          if (p != work.leader) pairs.emplace_back(work.leader, p);
        }
      }
      looks_.look(pairs);
      for (Work& work : now) decide(work, open, go_on);
    }
  }

  // Checks each picture against those most similar to it at 64 pixels, and forms sets of those that are the same in
  // chains.
  std::vector<Work> bring_together(const std::vector<Work>& many) {
    std::vector<std::vector<PicturePair>> near;  // of each picture
    std::vector<PicturePair> pairs;
    for (const Work& work : many) {
      near.push_back(nearest(work.left));
      pairs.insert(pairs.end(), near.back().begin(), near.back().end());
    }
    looks_.look(pairs);
    std::vector<Work> parts;
    for (std::size_t w = 0; w < many.size(); ++w) {
      const Work& work = many[w];
      std::map<std::uint32_t, std::size_t> at;
      for (std::size_t i = 0; i < work.left.size(); ++i) at.emplace(work.left[i], i);
      Union together(work.left.size());
      for (const auto& [a, b] : near[w]) {
        if (standings_.belong_together(a, b)) together.join(at.at(a), at.at(b));
      }
      std::map<std::size_t, Work> by_root;  // in the order of the rule, like the first of each
      for (std::size_t i = 0; i < work.left.size(); ++i) by_root[together.root(i)].left.push_back(work.left[i]);
      for (auto& [root, part] : by_root) {
        part.fresh = false;
        if (part.left.size() > 1) {
          parts.push_back(std::move(part));
        } else {
          alone(part.left, work.left.size() > kNearest + 1);
        }
      }
    }
    return parts;
  }

  // Returns the pairs of the most similar sets: for each set its kNearestSets best.
  std::set<std::pair<std::size_t, std::size_t>> nearest_sets(const std::vector<Across>& across) {
    std::map<std::uint32_t, std::size_t> set_of;
    for (std::size_t s = 0; s < out_.sets.size(); ++s) {
      for (const std::uint32_t p : out_.sets[s].pictures) set_of.emplace(p, s);
    }
    const auto set_with = [&](std::uint32_t p) {
      const auto [at, fresh] = set_of.emplace(p, out_.sets.size());
      if (fresh) alone({p}, false);
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
  static std::size_t going(std::span<const SameSet> sets) {
    std::size_t count = 0;
    for (const SameSet& set : sets) count += set.pictures.size() - 1 - set.also_kept.size();
    return count;
  }

  // Joins sets whose leaders are the same, if more pictures become removable by that. A member that is the same as one
  // leader need not be the same as the other.
  template <class GoOn>
  void join_across(const std::vector<Across>& across, const GoOn& go_on) {
    auto near = nearest_sets(across);
    std::vector<std::vector<std::uint32_t>> members;
    for (const SameSet& set : out_.sets) members.push_back(set.pictures);
    const auto apart = [&](const auto& pair) {
      return !preferences_.may_stand_together(members[pair.first], members[pair.second]);
    };
    std::erase_if(near, apart);
    const auto leader_of = [&](std::size_t set) { return out_.sets[set].pictures[0]; };
    std::vector<PicturePair> pairs;
    for (const auto& [x, y] : near) pairs.emplace_back(leader_of(x), leader_of(y));
    looks_.look(pairs);
    Union together(members.size());
    std::vector<std::pair<std::size_t, Beside>> beside;  // with the set of the leader
    std::map<std::uint32_t, std::size_t> set_of;         // of each leader
    for (const auto& [x, y] : near) {
      const Candidate two = preferences_.in_order({leader_of(x), leader_of(y)});
      set_of.insert({{leader_of(x), x}, {leader_of(y), y}});
      if (!standings_.belong_together(two[0], two[1])) {
        const GroupKind kind = standings_.kind(two[0], two[1]);
        if (kind != GroupKind::related) beside.push_back({set_of.at(two[0]), {two[0], two[1], kind}});
        continue;
      }
      const std::size_t one = together.root(x), other = together.root(y);
      if (one == other || !preferences_.may_stand_together(members[one], members[other])) continue;
      together.join(one, other);
      auto& all = members[std::min(one, other)];
      const auto& more = members[std::max(one, other)];
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const auto& [set, b] : beside) {
      if (together.root(set) != together.root(set_of.at(b.picture))) out_.beside.push_back(b);
    }
    lead_joined(members, together, go_on);
  }

  template <class GoOn>
  void lead_joined(const std::vector<std::vector<std::uint32_t>>& members, Union& together, const GoOn& go_on) {
    std::map<std::size_t, std::vector<SameSet>> before;  // sets of each root
    for (std::size_t s = 0; s < members.size(); ++s) before[together.root(s)].push_back(std::move(out_.sets[s]));
    out_.sets.clear();
    std::map<std::size_t, Candidate> joined;
    std::vector<PicturePair> pairs;
    for (const auto& [root, sets] : before) {
      if (sets.size() == 1) continue;
      const Candidate& all = joined[root] = preferences_.in_order(members[root]);
      for (const std::uint32_t p : all) {
        if (p != all[0]) pairs.emplace_back(all[0], p);
      }
    }
    looks_.look(pairs);  // checks all at once: the rounds that follow need few more
    for (auto& [root, sets] : before) {
      const std::size_t first = out_.sets.size();
      if (sets.size() > 1) {
        std::set<std::uint32_t> not_looked = std::exchange(not_looked_, {});
        std::vector<Work> open(1);
        open[0].left = joined.at(root);
        open[0].fresh = false;
        lead(open, [&](Work work) { go_on(std::move(work), open); });
        const bool better = going(std::span(out_.sets).subspan(first)) > going(sets);
        if (better) not_looked.merge(not_looked_);
        not_looked_ = std::move(not_looked);
        if (better) continue;
      }
      out_.sets.resize(first);
      for (SameSet& set : sets) out_.sets.push_back(std::move(set));
    }
  }

  // Frames of one video have one size; a copy of one of them usually has another.
  bool of_one_size(std::uint32_t a, std::uint32_t b) const {
    const CatalogPicture &x = library_.pictures[a].data, &y = library_.pictures[b].data;
    return std::minmax(x.width, x.height) == std::minmax(y.width, y.height);
  }

  // Adds the first pictures of `others`, which hold the difference from `of`, and then the first ones of another size.
  template <class Unlike>
  void take_nearest(std::uint32_t of, std::vector<std::pair<Unlike, std::uint32_t>>& others, std::size_t most,
                    std::size_t most_of_other_size, std::set<PicturePair>& out) const {
    std::sort(others.begin(), others.end());
    std::size_t taken = 0, taken_of_other_size = 0;
    for (const auto& other : others) {
      const bool other_size = taken >= most && !of_one_size(of, other.second);
      if (taken >= most && !(other_size && taken_of_other_size < most_of_other_size)) continue;
      (other_size ? taken_of_other_size : taken) += 1;
      out.insert(std::minmax(of, other.second));
    }
  }

  // Returns all pairs, or for many pictures only the pairs whose hashes differ least.
  std::vector<PicturePair> worth_asking(const std::vector<std::uint32_t>& pictures) const {
    std::set<PicturePair> out;
    const bool every_two = pictures.size() <= kEveryTwo;
    std::vector<std::pair<int, std::uint32_t>> others;
    for (const std::uint32_t p : pictures) {
      others.clear();
      for (const std::uint32_t q : pictures) {
        if (q != p) others.emplace_back(every_two ? 0 : similarity_.bits(p, q), q);
      }
      take_nearest(p, others, every_two ? others.size() : kFewestBits, kFewestBits, out);
    }
    return {out.begin(), out.end()};
  }

  // Returns the pairs of each picture with those most similar to it, the lower index first, each pair once.
  std::vector<PicturePair> nearest(const std::vector<std::uint32_t>& pictures) const {
    const std::vector<PicturePair> pairs = worth_asking(pictures);
    const std::vector<float> scores = similarity_.of(pairs);
    std::map<std::uint32_t, std::vector<std::pair<float, std::uint32_t>>> others;  // of each picture
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      others[pairs[i].first].emplace_back(-scores[i], pairs[i].second);
      others[pairs[i].second].emplace_back(-scores[i], pairs[i].first);
    }
    std::set<PicturePair> out;
    for (auto& [p, list] : others) take_nearest(p, list, kNearest, kNearestOfOtherSize, out);
    return {out.begin(), out.end()};
  }

  template <class GoOn>
  void decide(Work& work, std::vector<Work>& open, const GoOn& go_on) {
    const auto look = [&](std::uint32_t p) { return looks_.find(work.leader, p); };
    // A picture with more to show becomes the leader, and all others are checked against it.
    if (work.promotions < kMostPromotions) {
      if (const auto better = standings_.promotion(work.leader, work.lead, work.left)) {
        work.leader = better->picture;
        work.lead = better->why;
        ++work.promotions;
        open.push_back(std::move(work));
        return;
      }
    }
    SameSet set;
    set.pictures.push_back(work.leader);
    set.lead = work.lead;
    set.same_pixels = true;
    // Splits the rest in two: pictures that differ from the leader, and altered versions of it. They need not be
    // checked against each other, since copies of one picture have the same relation to the leader.
    std::map<bool, Work> rest;
    for (const std::uint32_t p : work.left) {
      if (p == work.leader) continue;
      if (standings_.stays_as_one_shot(work.leader, p)) {
        set.pictures.push_back(p);
        set.also_kept.push_back({p, "one shot with"});
        set.same_pixels = false;
        continue;
      }
      switch (standings_.of(work.leader, p)) {
        case Standing::same:
          set.pictures.push_back(p);
          set.same_pixels = set.same_pixels && look(p)->same_pixels;
          continue;
        case Standing::contains:
        case Standing::shows_more:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "shows more than"});
          set.same_pixels = false;
          continue;
        case Standing::has_more_detail:
          set.pictures.push_back(p);
          set.also_kept.push_back({p, "has more detail than"});
          set.same_pixels = false;
          continue;
        case Standing::other:
        case Standing::unseen:
          break;
      }
      if (standings_.of(work.leader, p) == Standing::unseen) not_looked_.insert(p);
      if (work.fresh) out_.beside.push_back({work.leader, p, standings_.kind(work.leader, p)});
      rest[look(p) == nullptr || look(p)->kind == closelook::Kind::different].left.push_back(p);
    }
    out_.sets.push_back(std::move(set));
    for (auto& [another, part] : rest) {
      if (part.left.size() == 1) {
        alone(part.left, false);
        continue;
      }
      part.leaders = work.leaders;
      part.fresh = false;
      go_on(std::move(part));
    }
  }

  const Standings standings_;
  const Similarity64& similarity_;
  const Preferences& preferences_;
  const Library& library_;
  Looks& looks_;
  Suggested out_;
  std::set<std::uint32_t> not_looked_;
};

}  // namespace

Suggested suggest(const std::vector<Candidate>& candidates, const std::vector<Across>& across, const Library& library,
                  const Origins& origins, const Similarity64& similarity, const Preferences& preferences,
                  Looks& looks) {
  return Suggesting(library, origins, similarity, preferences, looks).run(candidates, across);
}

}  // namespace millrace::dedupe
