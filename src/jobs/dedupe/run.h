// Input: options and a catalog.
// Output: groups of pictures that are the same, with the one to keep and the reason.
// Never: changes a file.
#pragma once

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/look_closely.h"
#include "src/jobs/job.h"

namespace millrace::dedupe {

// Callback before the search ends; it may request further detailed checks of the results.
using Ask = std::function<void(SearchResult&, Looks&)>;
SearchResult run(const Options& options, Catalog& catalog, RunContext& context, const Ask& ask = {});

// Returns the library of the folders, with all properties that grouping needs. Imports the outputs of stages first, and
// reads the files that the catalog lacks.
Library known_library(const Options& options, Catalog& catalog, RunContext& context);

Plan plan(const Options& options, Catalog& catalog, RunContext& context);
// Plan of the read stage, which reads all files.
Plan plan_of_reading(const Options& options, RunContext& context);

}  // namespace millrace::dedupe
