// Input: folders of lines that runs of a stage have made.
// Output: what they say in a catalogue, as if this run had found it.
// Never: believes a folder that somebody else could have written; takes what another version of the program found, or
//   what was compared beside what a catalogue has compared already.
#pragma once

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Of `files`, sorted by path, alone: those that have the size and time that a line tells, and of which the catalogue
// knows nothing yet. Failure(bad_data) where a folder is none of these, is not whole, or holds a line that no run
// writes; (conflict) where it is not believed (io/file/own.h), or was made by a program that decodes otherwise.
void take_stages(const std::vector<std::string>& folders, Trust trust, const std::vector<File>& files, Catalog& catalog,
                 RunContext& context);

// How many files they have read, as they say of themselves; nothing is taken. Fails likewise.
std::uint64_t files_of_stages(const std::vector<std::string>& folders, Trust trust);

}  // namespace millrace::dedupe
