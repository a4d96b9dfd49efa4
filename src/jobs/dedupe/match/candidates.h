// Input: appearances (each the hash of a thumbnail and its codes), added one after another, and a candidate rule.
// Output: the pairs of appearances that are worth comparing by their pixels.
// Never: reads pixels.
//
// Two appearances are a pair by their own codes alone, never by the order in which they came. So later runs add
// appearances without comparing the earlier ones again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/match/dense_groups.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// A pair of rows, a < b.
struct RowPair {
  std::uint32_t a = 0, b = 0;
  friend auto operator<=>(const RowPair&, const RowPair&) = default;
};

// Sorted pairs, with the memory reserved for them.
struct CandidatePairs {
  std::vector<RowPair> pairs;
  std::vector<Reservation> memory;
};

class CandidateIndex {
 public:
  // `dense_groups` is kept by reference. Within dense groups the search finds only the pairs that
  // DenseGroups::are_compared() admits.
  CandidateIndex(const MatchRule& rule, RunContext& context, const DenseGroups* dense_groups = nullptr);

  // Appends a row; no appearance comes twice.
  void add(std::uint64_t thumbnail_digest, const ThumbnailCodes& codes);
  std::uint32_t rows() const { return static_cast<std::uint32_t>(appearances_.size()); }
  std::uint64_t thumbnail_digest(std::uint32_t row) const { return appearances_[row]; }
  ThumbnailCodes codes(std::uint32_t row) const { return codes_.at(row); }
  // Makes room for `count` more rows.
  void reserve(std::size_t count);
  // Number of differing bits between two rows, one entry per kind in kCatalogCodes; nullopt where the rule does not
  // hold.
  std::optional<std::array<int, 4>> count_differing_bits(std::uint32_t a, std::uint32_t b) const;
  // Pairs whose later row is in [begin, end). Throws OutOfMemory when they do not fit.
  CandidatePairs search(std::uint32_t begin, std::uint32_t end) const;
  // Compares rows from `first` on with all rows before them, in batches: visit(begin, end, pairs). Batches become
  // smaller when memory runs out, or when one has so many pairs that a killed run would lose much.
  void for_each_batch(std::uint32_t first,
                      const std::function<void(std::uint32_t, std::uint32_t, const CandidatePairs&)>& visit) const;

 private:
  bool are_compared(std::uint32_t i, std::uint32_t j) const;

  const MatchRule& rule_;
  RunContext& context_;
  std::vector<std::uint64_t> appearances_;
  CodeColumns codes_;
  const DenseGroups* dense_groups_;
  std::vector<DenseGroups::Levels> levels_;  // one entry per row, only if there are dense groups
};

}  // namespace millrace::dedupe
