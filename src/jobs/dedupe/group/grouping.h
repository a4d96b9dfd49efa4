// Input: a library.
// Output: its groups: identical and similar pictures, recoloured ones, bursts, and related pairs that fall between
// groups.
// Never: decodes a picture itself; lets the order of files or threads change a group.
#pragma once

#include <memory>

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/pair_comparator.h"

namespace millrace::dedupe {

// Fills in the groups of `result` from its library and rule. Pictures are suggested for removal only after
// `comparator` checked them.
void find_groups(const DedupeOptions& options, SearchResult& result, Catalog& catalog, PairComparator& comparator,
                 RunContext& context);

// Sets of pictures that a search checks in detail. No picture of one set is compared with a picture of another.
class CheckSets {
 public:
  virtual ~CheckSets() = default;
  virtual std::size_t count() const = 0;
  // A 128-bit hash of all sets, by their contents.
  virtual ContentHash identity() const = 0;
  // Makes the detailed checks that a search makes in the sets from `begin` to `end`.
  virtual void check(std::size_t begin, std::size_t end, PairComparator& comparator) = 0;
};
// Finds the sets of a library and a rule, as find_groups() does. The arguments must outlive the result.
std::unique_ptr<CheckSets> find_check_sets(const DedupeOptions& options, SearchResult& result, Catalog& catalog,
                                           RunContext& context);

}  // namespace millrace::dedupe
