// Input: columns of hashes, and a candidate rule.
// Output: pairs of rows for which one alternative of the rule holds.
// Never: knows which pictures the rows belong to.
#pragma once

#include <span>
#include <vector>

#include "src/jobs/dedupe/options.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::dedupe {

// Hashes by kind, one column each, so that a search reads only the kinds that it compares.
class CodeColumns {
 public:
  void add(const ThumbnailCodes& codes);
  void reserve(std::size_t more);
  std::size_t rows() const { return columns_[0].size(); }
  ThumbnailCodes at(std::size_t row) const;
  const std::vector<std::uint64_t>& get_column(bool middle, HashKind kind) const;

 private:
  std::array<std::vector<std::uint64_t>, std::tuple_size_v<ThumbnailCodes>> columns_;
};

// Selects which hashes of two rows are compared. Under Rule::middle the whole of one is also compared with the middle
// of the other. Two middles are not compared: their common content is in the wholes too.
struct HashView {
  bool query_middle, base_middle;
};
std::span<const HashView> views_of_rule(const MatchRule& rule);

// Defines the pairs that a search finds: true if the rule holds for a and b.
bool holds(const MatchRule& rule, const ThumbnailCodes& a, const ThumbnailCodes& b);

// Number of differing bits between two pictures, one entry per kind in kCatalogCodes.
std::array<int, 4> distances(const ThumbnailCodes& a, const ThumbnailCodes& b);

// Rows of a search: [begin, end) of the queries against [0, base_end) of the base.
struct SearchRows {
  const CodeColumns* queries;
  std::size_t begin, end;
  const CodeColumns* base;
  std::size_t base_end;
};

// Finds pairs (i, j) in which all terms hold and `also` returns true. i is a query row counted from `begin`, j a base
// row. `also` is called from many threads. The range search serves the first term; the other terms filter its pairs as
// they are found.
hamming::CodeSearchResult search(const std::vector<RuleTerm>& terms, const SearchRows& rows, HashView hash_view,
                                 const Engines& engines, Budget& budget, const hamming::PairFilter& also);

// Visits each pair for which the rule holds exactly once, from many threads: visit(i, j), i counted from `begin`.
void for_each_pair(const MatchRule& rule, const SearchRows& rows, const Engines& engines, Budget& budget,
                   const std::function<void(std::uint32_t, std::uint32_t)>& visit);

}  // namespace millrace::dedupe
