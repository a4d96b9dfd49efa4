// Input: the result of a search.
// Output: its JSON, CSV, page and summary.
// Never: changes the result.
#pragma once

#include <string>

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/dedupe/run.h"

namespace millrace::dedupe {

// Returns the JSON object that docs/dedupe.md describes, in pieces. The same files and options give the same bytes.
std::vector<std::string> json_of(const SearchResult& result, const Executor& executor);
// Lists the kinds of files that were not read, with the number of each.
Json not_read_json(const UnsupportedFiles& unsupported_files);
// Returns a header and one line per member.
std::string csv_of(const SearchResult& result);
void write_page(const SearchResult& result, const DedupeOptions& options, Catalog& catalog, const OutputTarget& output,
                RunContext& context);
// Both list a person's files, and only their owner may read them.
OutputKind json_kind();
OutputKind csv_kind();
// Returns the few lines at the end of a run.
std::string summary_of(const SearchResult& result);

}  // namespace millrace::dedupe
