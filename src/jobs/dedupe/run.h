// Enters: options and a catalogue.
// Leaves: groups of pictures that are the same, with the one to keep and why.
// Never: changes a file.
#pragma once

#include "src/jobs/dedupe/page/page.h"
#include "src/jobs/dedupe/suggest/keep.h"
#include "src/jobs/job.h"

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

struct Result {
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

Result run(const Options& options, Catalog& catalog, RunContext& context);

Plan plan(const Options& options, Catalog& catalog, RunContext& context);

}  // namespace millrace::dedupe
