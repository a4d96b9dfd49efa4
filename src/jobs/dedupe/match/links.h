// Input: the appearances of a library.
// Output: links between appearances that are the same picture by a rule and by their pixels.
// Never: compares again the pairs that an earlier run compared: the catalog records which appearances were compared
// under which rule.
#pragma once

#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/match/compared_part.h"
#include "src/jobs/dedupe/match/pair_verifier.h"

namespace millrace::dedupe {

// Returns the codes of an appearance by its index in a list. All pictures of one appearance have the same codes.
using CodesOf = std::function<ThumbnailCodes(std::size_t)>;

struct FoundLinks {
  std::vector<CatalogLink> links;  // sorted; kinds `same` and `recoloured`
  Crowds crowds;                   // dense groups, in which not every pair was compared
};

// Returns links between these appearances. `appearances` is sorted without repeats. New appearances are compared with
// one another and with all that the catalog has under this rule, one batch at a time. The results of a batch are
// written to the catalog before the next begins, so a killed run resumes there. For pairs in dense groups the catalog
// keeps every judgement.
FoundLinks find_links(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                      Catalog& catalog, PairVerifier& verifier, RunContext& context);

// Splits the same work among several runs: each compares a range of the library's appearances, in an order of its own,
// with all that come before.
class WholesToCompare {
 public:
  // The arguments must outlive the object.
  WholesToCompare(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, const Rule& rule,
                  PairVerifier& verifier, RunContext& context);

  // Appearances outside dense groups; they come first in the order.
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
  std::vector<std::uint32_t> order_;  // indices into appearances_
};

}  // namespace millrace::dedupe
