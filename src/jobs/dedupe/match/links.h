// Enters: the appearances of a library.
// Leaves: which of them are the same picture by a rule and by their pixels.
// Never: compares again what an earlier run compared: the catalogue knows which appearances met under which rule.
#pragma once

#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/match/pair_verifier.h"

namespace millrace::dedupe {

// The codes of an appearance, by its place in a list: part of the appearance, so any picture's that has it.
using CodesOf = std::function<ThumbnailCodes(std::size_t)>;

struct FoundLinks {
  std::vector<CatalogLink> links;  // sorted; kinds `same` and `recoloured`
  Crowds crowds;                   // in which not every two were compared
};

// Links between these appearances. `appearances` sorted, each once. Appearances that are new to the catalogue meet one
// another and all that it knows under this rule, a part at a time; what came of a part is kept before the next begins,
// so that a killed run goes on there. Of those who stand in crowds each judgement is kept.
FoundLinks find_links(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                      Catalog& catalog, PairVerifier& verifier, RunContext& context);

}  // namespace millrace::dedupe
