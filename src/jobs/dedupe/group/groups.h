// Input: nothing.
// Output: what a search has found: groups, their members, and what speaks for each two.
// Never: finds any.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "src/jobs/dedupe/group_kind.h"
#include "src/jobs/dedupe/suggest/keep.h"

namespace millrace::dedupe {

// Two members of a group, as indexes into it, and what speaks for them.
struct GroupPair {
  std::uint32_t a = 0, b = 0;
  std::array<int, 4> distances{};
  float score = 0;
};

struct Group {
  std::string id;  // from the contents and paths of its members: the same in every run over the same files
  GroupKind kind = GroupKind::similar;
  std::vector<Member> members;
  std::vector<GroupPair> pairs;
  std::uint64_t reclaimable = 0;  // bytes of the members that need not stay
};

struct SearchResult {
  Library library;
  std::vector<Group> groups;   // those that suggest first, then each kind
  std::vector<Group> related;  // verified pairs that fall between groups
  Rule rule;
  std::uint64_t looked_at = 0;       // pairs compared in this run, by their thumbnails
  std::uint64_t looked_closely = 0;  // pairs, by more of their pixels
  std::uint64_t not_looked = 0;      // pictures of which nothing is suggested since they could not be looked at
  std::uint64_t reclaimable = 0;
  double seconds = 0;
};

}  // namespace millrace::dedupe
