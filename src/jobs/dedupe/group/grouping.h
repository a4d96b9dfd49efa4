// Input: a library.
// Output: its groups: identical and similar, recoloured, bursts, and related pairs that fall between groups.
// Never: decodes a picture itself, or lets the order of files or threads change a group.
#pragma once

#include <memory>

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/look_closely.h"

namespace millrace::dedupe {

// Fills in what SearchResult says of groups from its library and rule. What is suggested was looked at by `looks`.
void find_groups(const Options& options, SearchResult& result, Catalog& catalog, Looks& looks, RunContext& context);

// What is looked at closely in a search: sets of pictures of which none has to do with one of another set.
class LookSets {
 public:
  virtual ~LookSets() = default;
  virtual std::size_t count() const = 0;
  // 128 bits over all of them, by their contents.
  virtual ContentHash identity() const = 0;
  // Looks at all that a search looks at in the sets from `begin` to `end`.
  virtual void look(std::size_t begin, std::size_t end, Looks& looks) = 0;
};
// Of a library and a rule, as find_groups() has them. All that is given outlives it.
std::unique_ptr<LookSets> find_look_sets(const Options& options, SearchResult& result, Catalog& catalog,
                                         RunContext& context);

}  // namespace millrace::dedupe
