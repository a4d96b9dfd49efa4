// Input: sets of pictures of a library that belong together, and the reasons.
// Output: the groups that a person sees: kept members, removable members, and the evidence for pairs of members.
// Never: decides which pictures belong together.
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

// Similarity of the units of each pair; higher is more similar, below zero is no match.
struct UnitScores {
  std::function<std::vector<float>(std::span<const ItemPair>)>
      in_one_group;                                                    // below zero unless the two may be in one group
  std::function<std::vector<float>(std::span<const ItemPair>)> alone;  // whether or not they may be in one group
};

// Evidence that tells members of a group apart: the detailed check, or their bytes alone.
enum class Told : std::uint8_t { closely, by_bytes };

class ShownGroups {
 public:
  // `unit_of` holds the unit of each picture. All references must outlive the object.
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

  // Adds a group for each set. One member is kept, and the others are removable unless the rule or the set keeps them.
  void add_sets(std::span<const SameSet> sets, Told told, RunContext& context);
  // Adds one group per kind and leader, with the pictures that were checked against that leader. Nothing in it is
  // removable.
  void add_beside(const std::vector<Beside>& all);
  // Adds a group without removable members.
  void add_informing(const std::vector<std::uint32_t>& pictures, GroupKind kind);
  void add_burst(const Burst& burst);
  // Assigns ids to the groups and sorts them.
  void finish(RunContext& context);

 private:
  // Returns the group without its pairs. It has no members if there are fewer than two files, only reference files, or,
  // under --pairs across, only files of one album.
  Group group_of(const SameSet& set, Told told) const;
  std::vector<std::uint32_t> units_of(const std::vector<std::uint32_t>& pictures) const;
  void add_pairs(Group& group, const std::vector<std::uint32_t>& units);
  std::string id_of(const Group& group) const;
  // Returns a warning for two members that were once the same file; empty for others.
  std::string words_of_rot(const Member& first, const Member& other) const;
  // Used for --pairs across: files of one album are not a pair.
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
