// Input: what a person said are no duplicates, and the catalogue that remembers it.
// Output: the pairs in the catalogue, told to the journal first; or what a journal tells of taken out again.
// Never: takes out what the catalogue knew before.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/apply/decisions.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// Every pair of contents that a person told apart, each once. Groups that are too large for that are noted.
std::vector<NotDuplicatePair> not_duplicate_pairs(const Decisions& decisions, Applied& applied);

void remember_not_duplicates(const std::vector<NotDuplicatePair>& pairs, const std::string& catalog,
                             const CatalogAccess& access, const Journal& journal, JournalWriter& writer);

// How many pairs an undo takes out; with a writer, takes them out. Failure when a catalogue cannot be used.
std::uint64_t forget_not_duplicates(const Journal& journal, const CatalogAccess& access, JournalWriter* writer);

}  // namespace millrace::dedupe
