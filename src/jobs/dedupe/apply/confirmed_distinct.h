// Input: pairs of contents that a person confirmed as different, and the catalog that records them.
// Output: the pairs in the catalog, after they are in the journal; or the pairs of a journal removed again.
// Never: removes a pair that the catalog had before.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/apply/decisions.h"
#include "src/jobs/dedupe/catalog/catalog.h"

namespace millrace::dedupe {

// Returns every pair of contents that a person confirmed as different, each once. Notes groups that are too large for
// that.
std::vector<ConfirmedDistinctPair> collect_confirmed_distinct(const Decisions& decisions, ApplyReport& applied);

void record_confirmed_distinct(const std::vector<ConfirmedDistinctPair>& pairs, const std::string& catalog,
                               const CatalogAccess& access, const Journal& journal, JournalWriter& writer);

// Returns the number of pairs that an undo removes; with a writer, removes them. Throws Failure when a catalog cannot
// be used.
std::uint64_t remove_confirmed_distinct(const Journal& journal, const CatalogAccess& access, JournalWriter* writer);

}  // namespace millrace::dedupe
