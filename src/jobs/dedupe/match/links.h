// Input: the appearances of a library.
// Output: which of them are the same picture by a rule and by their pixels.
// Never: compares again what an earlier run compared: the catalogue knows which appearances met under which rule.
#pragma once

#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/match/compared_part.h"
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

// The same for many runs to share: of all appearances of a library, in an order of their own, some and those before
// them.
class WholesToCompare {
 public:
  // What is given outlives it.
  WholesToCompare(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                  PairVerifier& verifier, RunContext& context);

  // Those outside of crowds come first.
  std::span<const std::uint64_t> outside() const { return outside_; }
  std::size_t rows() const { return appearances_.size(); }
  ComparedPart compare(std::size_t begin, std::size_t end);

 private:
  void add_rows(CandidateIndex& index, std::size_t end) const;

  const std::span<const std::uint64_t> appearances_;
  const CodesOf& codes_of_;
  const Rule& rule_;
  PairVerifier& verifier_;
  RunContext& context_;
  Crowds crowds_;
  std::vector<std::uint64_t> outside_;
  std::vector<std::uint32_t> order_;  // places among appearances
};

}  // namespace millrace::dedupe
