// Enters: options and a catalogue.
// Leaves: groups of pictures that are the same, with the one to keep and why.
// Never: changes a file.
#pragma once

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/job.h"

namespace millrace::dedupe {

SearchResult run(const Options& options, Catalog& catalog, RunContext& context);

Plan plan(const Options& options, Catalog& catalog, RunContext& context);

}  // namespace millrace::dedupe
