// Enters: units and a rule on their hashes.
// Leaves: the pairs of units that are worth a look.
// Never: looks at pixels.
#pragma once

#include "src/jobs/dedupe/judge.h"
#include "src/jobs/dedupe/units.h"

namespace millrace::dedupe {

// Pairs of units, a < b, sorted, with the orientations in which the rule holds. In each of the rule's alternatives the
// first term is served by the range join, the others filter its pairs.
std::vector<Candidate> find_candidates(const Library& library, const std::vector<Unit>& units, const Rule& rule,
                                       bool orientations, Catalog& catalog, RunContext& context);

// Bits in which two pictures differ, by kCatalogCodes.
std::array<int, 4> distances(const CatalogPicture& a, const CatalogPicture& b);

// True when the rule holds as the pictures are.
bool holds(const Rule& rule, const CatalogPicture& a, const CatalogPicture& b);

}  // namespace millrace::dedupe
