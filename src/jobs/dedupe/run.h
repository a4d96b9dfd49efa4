// Input: options and a catalog.
// Output: groups of pictures that are the same, with the one to keep and the reason.
// Never: changes a file.
#pragma once

#include "src/jobs/dedupe/group/groups.h"
#include "src/jobs/dedupe/suggest/pair_comparator.h"
#include "src/jobs/job.h"

namespace millrace::dedupe {

// Callback before the search ends; it may request further detailed checks of the results.
using ResultCallback = std::function<void(SearchResult&, PairComparator&)>;
SearchResult run(const DedupeOptions& options, Catalog& catalog, RunContext& context,
                 const ResultCallback& on_result = {});

// Returns the library of the folders, with all properties that grouping needs. Imports the outputs of stages first, and
// reads the files that the catalog lacks.
Library load_library(const DedupeOptions& options, Catalog& catalog, RunContext& context);

Plan plan(const DedupeOptions& options, Catalog& catalog, RunContext& context);
// Plan of the read stage, which reads all files.
Plan plan_reading(const DedupeOptions& options, RunContext& context);

}  // namespace millrace::dedupe
