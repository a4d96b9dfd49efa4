// Enters: a library.
// Leaves: its groups: identical and similar, recoloured, bursts, and related pairs that fall between groups.
// Never: decodes a picture itself, or lets the order of files or threads change a group.
#pragma once

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/look_closely.h"

namespace millrace::dedupe {

// Fills in what SearchResult says of groups from its library and rule. What is suggested was looked at by `looks`.
void find_groups(const Options& options, SearchResult& result, Catalog& catalog, Looks& looks, RunContext& context);

}  // namespace millrace::dedupe
