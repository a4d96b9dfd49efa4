// Input: the appearances of a library.
// Output: links between appearances that are the same picture by a rule and by their pixels.
// Never: compares again the pairs that an earlier run compared: the catalog records which appearances were compared
// under which rule.
#pragma once

#include "src/jobs/dedupe/match/candidates.h"
#include "src/jobs/dedupe/match/compared_batch.h"
#include "src/jobs/dedupe/match/thumbnail_comparator.h"

namespace millrace::dedupe {

// Returns the codes of an appearance by its index in a list. All pictures of one appearance have the same codes.
using CodeLookup = std::function<ThumbnailCodes(std::size_t)>;

struct AppearanceLinks {
  std::vector<CatalogLink> links;  // sorted; kinds `same` and `recoloured`
  DenseGroups dense_groups;        // dense groups, in which not every pair was compared
};

// Returns links between these appearances. `appearances` is sorted without repeats. New appearances are compared with
// one another and with all that the catalog has under this rule, one batch at a time. The results of a batch are
// written to the catalog before the next begins, so a killed run resumes there. For pairs in dense groups the catalog
// keeps every judgement.
AppearanceLinks find_links(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of,
                           const MatchRule& rule, Catalog& catalog, ThumbnailComparator& thumbnail_comparator,
                           RunContext& context);

// Splits the same work among several runs: each compares a range of the library's appearances, in an order of its own,
// with all that come before.
class ShardedLinkSearch {
 public:
  // The arguments must outlive the object.
  ShardedLinkSearch(std::span<const std::uint64_t> appearances, const CodeLookup& codes_of, const MatchRule& rule,
                    ThumbnailComparator& thumbnail_comparator, RunContext& context);

  // Appearances outside dense groups; they come first in the order.
  std::span<const std::uint64_t> outside_dense_groups() const { return outside_; }
  std::size_t rows() const { return appearances_.size(); }
  ComparedBatch compare(std::size_t begin, std::size_t end);

 private:
  void add_rows(CandidateIndex& index, std::size_t end) const;

  const std::span<const std::uint64_t> appearances_;
  const CodeLookup& codes_of_;
  const MatchRule& rule_;
  ThumbnailComparator& thumbnail_comparator_;
  RunContext& context_;
  DenseGroups dense_groups_;
  std::vector<std::uint64_t> outside_;
  std::vector<std::uint32_t> order_;  // indices into appearances_
};

}  // namespace millrace::dedupe
