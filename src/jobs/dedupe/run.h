// Input: options and a catalogue.
// Output: groups of pictures that are the same, with the one to keep and why.
// Never: changes a file.
#pragma once

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/look_closely.h"
#include "src/jobs/job.h"

namespace millrace::dedupe {

// `ask` may look closer at what was found, before the search ends.
using Ask = std::function<void(SearchResult&, Looks&)>;
SearchResult run(const Options& options, Catalog& catalog, RunContext& context, const Ask& ask = {});

// What is in the folders, read where it is not known, with all that a grouping asks of it; what stages have made is
// taken over first.
Library known_library(const Options& options, Catalog& catalog, RunContext& context);

Plan plan(const Options& options, Catalog& catalog, RunContext& context);
// Of a stage that reads all of them.
Plan plan_of_reading(const Options& options, RunContext& context);

}  // namespace millrace::dedupe
