// Input: what of a library belongs together, and why.
// Output: the groups that a person is shown: who stays, who is suggested, what two members have to do with each other.
// Never: decides what belongs together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/group/units.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/jobs/dedupe/suggest/suggest.h"

namespace millrace::dedupe {

// How much the units of each pair are alike, more is more; below zero: not at all.
struct UnitScores {
  std::function<std::vector<float>(std::span<const ItemPair>)> in_one_group;  // where they may stand in one
  std::function<std::vector<float>(std::span<const ItemPair>)> alone;         // whether they may or not
};

// By what members are told from each other: a close look, or their bytes alone.
enum class Told : std::uint8_t { closely, by_bytes };

class ShownGroups {
 public:
  // `unit_of` each picture. All are kept by reference.
  ShownGroups(const Options& options, SearchResult& result, const std::vector<Unit>& units,
              const std::vector<std::uint32_t>& unit_of, const Origins& origins,
              const std::vector<std::string>& criteria, const Looks& looks, UnitScores scores)
      : across_(options.pairs == PairMode::across),
        result_(result),
        library_(result.library),
        units_(units),
        unit_of_(unit_of),
        origins_(origins),
        criteria_(criteria),
        looks_(looks),
        scores_(std::move(scores)) {}

  // Of each set one stays, and the others are suggested, but for those that the rule or the set keeps.
  void add_sets(std::span<const SameSet> sets, Told told, RunContext& context);
  // Each kind with the one that it was looked at against; nothing is suggested.
  void add_beside(const std::vector<Beside>& all);
  // A group that suggests nothing: every member stays.
  void add_informing(const std::vector<std::uint32_t>& pictures, GroupKind kind);
  void add_burst(const Burst& burst);
  // Names and orders what was added.
  void finish(RunContext& context);

 private:
  // Without its pairs; one without members where nobody can go.
  Group group_of(const SameSet& set, Told told) const;
  std::vector<std::uint32_t> units_of(const std::vector<std::uint32_t>& pictures) const;
  void add_pairs(Group& group, const std::vector<std::uint32_t>& units);
  std::string id_of(const Group& group) const;
  // Tells of two that were one file once; empty for others.
  std::string words_of_rot(const Member& first, const Member& other) const;
  // Of --pairs across: in one album there is no pair.
  bool is_in_one_album(const std::vector<Member>& members) const;
  bool may_stay_for_the_first(const std::vector<Member>& members, const Member& member) const;
  void keep_beside_the_first(std::vector<Member>& members) const;

  const bool across_;  // only files of different albums are a pair
  SearchResult& result_;
  const Library& library_;
  const std::vector<Unit>& units_;
  const std::vector<std::uint32_t>& unit_of_;
  const Origins& origins_;
  const std::vector<std::string>& criteria_;
  const Looks& looks_;
  const UnitScores scores_;
};

}  // namespace millrace::dedupe
