// Input: folders of lines that runs of a stage have written.
// Output: their results in a catalog, as if this run had computed them.
// Never: trusts a folder that another user could have written; imports results of another version of the program, or
// comparisons after others that the catalog has already.
#pragma once

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Imports results only for `files` (sorted by path) with the size and time of the line, if the catalog does not have
// them yet. Throws Failure(bad_data) if a folder is not a stage's output, is incomplete, or holds a line that no run
// writes. Throws Failure(conflict) if it is not trusted (io/file/trusted_file.h), or was made by a version that decodes
// differently.
void import_stages(const std::vector<std::string>& folders, Trust trust, const std::vector<LibraryFile>& files,
                   Catalog& catalog, RunContext& context);

// Returns the number of files that the read stages claim to have read; imports nothing. Throws as import_stages() does.
std::uint64_t count_stage_files(const std::vector<std::string>& folders, Trust trust);

}  // namespace millrace::dedupe
