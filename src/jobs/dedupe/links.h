// Enters: the looks of a library.
// Leaves: which of them are the same picture by a rule and by their pixels.
// Never: compares again what an earlier run compared: the catalogue knows which looks met under which rule.
#pragma once

#include "src/jobs/dedupe/candidates.h"
#include "src/jobs/dedupe/judge.h"

namespace millrace::dedupe {

// A look of the library, and the hashes that are part of it.
struct LibraryLook {
  std::uint64_t look = 0;
  LookCodes codes{};
};

struct FoundLinks {
  std::vector<CatalogLink> links;  // between looks of the library, sorted; kinds `same` and `recoloured`
  std::uint64_t fresh = 0;         // looks that no earlier run had compared
  std::uint64_t candidates = 0;    // pairs that the rule proposed in this run
};

// `looks` sorted by look, each once. Looks that are new to the catalogue meet one another and all that it knows under this
// rule, a part at a time; what came of a part is kept before the next begins, so that a killed run goes on there.
FoundLinks find_links(std::span<const LibraryLook> looks, const Rule& rule, bool orientations, Catalog& catalog,
                      Judge& judge, RunContext& context);

}  // namespace millrace::dedupe
