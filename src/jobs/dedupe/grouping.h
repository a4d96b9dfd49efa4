// Enters: a library.
// Leaves: its groups: identical and similar, recoloured, bursts, and related pairs that fall between groups.
// Never: decodes a picture, or lets the order of files or threads change a group.
#pragma once

#include "src/jobs/dedupe/run.h"

namespace millrace::dedupe {

// Fills in what Result says of groups from its library and rule.
void find_groups(const Options& options, Result& result, Catalog& catalog, RunContext& context);

}  // namespace millrace::dedupe
