// Input: sets of pictures of a library that belong together, and the reasons.
// Output: the groups that a person sees: kept members, removable members, and the evidence for pairs of members.
// Never: decides which pictures belong together.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group/appearance_groups.h"
#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/group/linkage.h"
#include "src/jobs/dedupe/suggest/origins.h"
#include "src/jobs/dedupe/suggest/suggest_removals.h"

namespace millrace::dedupe {

// Similarity of the appearance groups of each pair; higher is more similar, below zero is no match.
struct AppearanceGroupScores {
  std::function<std::vector<float>(std::span<const ItemPair>)>
      group_scores;  // below zero unless the two may be in one group
  std::function<std::vector<float>(std::span<const ItemPair>)> pair_scores;  // whether or not they may be in one group
};

// Evidence that distinguishes members of a group: the detailed check, or their bytes alone.
enum class GroupEvidence : std::uint8_t { detailed_check, equal_bytes };

class GroupBuilder {
 public:
  // `appearance_group_of` holds the appearance group of each picture. All references must outlive the object.
  GroupBuilder(const DedupeOptions& options, SearchResult& result,
               const std::vector<AppearanceGroup>& appearance_groups,
               const std::vector<std::uint32_t>& appearance_group_of, const Origins& origins,
               const std::vector<std::string>& criteria, const PairComparator& comparator, AppearanceGroupScores scores)
      : across_(options.pairs == PairMode::across),
        result_(result),
        library_(result.library),
        appearance_groups_(appearance_groups),
        appearance_group_of_(appearance_group_of),
        origins_(origins),
        criteria_(criteria),
        comparator_(comparator),
        scores_(std::move(scores)) {}

  // Adds a group for each set. One member is kept, and the others are removable unless the rule or the set keeps them.
  void add_sets(std::span<const DuplicateSet> sets, GroupEvidence evidence, RunContext& context);
  // Adds one group per kind and keeper, with the pictures that were checked against that keeper. None of its members is
  // removable.
  void add_related_pictures(const std::vector<RelatedPicture>& all);
  // Adds a group without removable members.
  void add_informational_group(const std::vector<std::uint32_t>& pictures, GroupKind kind);
  void add_burst(const Burst& burst);
  // Assigns ids to the groups and sorts them.
  void finish(RunContext& context);

 private:
  // Returns the group without its pairs. It has no members if there are fewer than two files, only reference files, or,
  // under --pairs across, only files of one album.
  Group make_group(const DuplicateSet& set, GroupEvidence evidence) const;
  std::vector<std::uint32_t> appearance_groups_of(const std::vector<std::uint32_t>& pictures) const;
  void add_pairs(Group& group, const std::vector<std::uint32_t>& appearance_groups);
  std::string id_of(const Group& group) const;
  // Returns a warning for two members that were once the same file; empty for others.
  std::string describe_bit_rot(const GroupMember& first, const GroupMember& other) const;
  // Used for --pairs across: files of one album are not a pair.
  bool is_in_one_album(const std::vector<GroupMember>& members) const;
  bool is_interchangeable_with_keeper(const std::vector<GroupMember>& members, const GroupMember& member) const;
  void keep_same_album_members(std::vector<GroupMember>& members) const;

  const bool across_;  // only files of different albums are a pair
  SearchResult& result_;
  const Library& library_;
  const std::vector<AppearanceGroup>& appearance_groups_;
  const std::vector<std::uint32_t>& appearance_group_of_;
  const Origins& origins_;
  const std::vector<std::string>& criteria_;
  const PairComparator& comparator_;
  const AppearanceGroupScores scores_;
};

}  // namespace millrace::dedupe
