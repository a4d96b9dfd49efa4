// Input: a result.
// Output: what a person or a program sees of it: JSON, CSV, the page, a summary.
// Never: changes the result.
#pragma once

#include <string>

#include "src/base/json.h"
#include "src/io/output/output.h"
#include "src/jobs/dedupe/run.h"

namespace millrace::dedupe {

// The JSON object that docs/dedupe.md describes, in pieces; the same bytes for the same files and options.
std::vector<std::string> json_of(const SearchResult& result, const Executor& executor);
// The kinds of files that were not read, and how many of each.
Json not_read_json(const NotRead& not_read);
// A line a member, with a header.
std::string csv_of(const SearchResult& result);
void write_page(const SearchResult& result, const Options& options, Catalog& catalog, const Output& output,
                RunContext& context);
// They list a person's files, and are that person's alone.
OutputKind json_kind();
OutputKind csv_kind();
// The few lines at the end of a run.
std::string summary_of(const SearchResult& result);

}  // namespace millrace::dedupe
