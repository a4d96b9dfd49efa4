// Input: nothing; this header only declares types.
// Output: the types of a search result: groups, their members, and the evidence for pairs of members.
// Never: searches.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group_kind.h"
#include "src/jobs/dedupe/suggest/keep_rule.h"

namespace millrace::dedupe {

// Two members of a group, as indexes into it, and the evidence that they match.
struct GroupPair {
  std::uint32_t a = 0, b = 0;
  std::array<int, 4> distances{};
  float score = 0;
};

struct Group {
  std::string id;  // hash of the contents and paths of its members: the same in every run over the same files
  GroupKind kind = GroupKind::similar;
  std::vector<GroupMember> members;
  std::vector<GroupPair> pairs;
  std::uint64_t reclaimable = 0;  // bytes of the removable members
};

struct SearchResult {
  Library library;
  std::vector<Group> groups;   // groups with removable members first, then by kind
  std::vector<Group> related;  // verified pairs that fall between groups
  MatchRule rule;
  std::uint64_t compared_pairs = 0;      // pairs compared in this run by their thumbnails
  std::uint64_t checked_pairs = 0;       // pairs checked in this run in detail
  std::uint64_t unchecked_pictures = 0;  // pictures that are not suggested because they could not be checked
  std::uint64_t reclaimable = 0;
  double seconds = 0;
};

}  // namespace millrace::dedupe
