// Input: appearances with their hashes, one after another, and a rule.
// Output: the pairs of them that are worth comparing.
// Never: looks at pixels.
//
// Whether two appearances are a pair depends on the two alone, never on which came first: that is what lets later runs
// add appearances without comparing the earlier ones again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/match/crowds.h"
#include "src/pipeline/run_context.h"

namespace millrace::dedupe {

// Two rows, a < b.
struct RowPair {
  std::uint32_t a = 0, b = 0;
  friend auto operator<=>(const RowPair&, const RowPair&) = default;
};

// Pairs, sorted, with the memory they hold.
struct CandidatePairs {
  std::vector<RowPair> pairs;
  std::vector<Reservation> memory;
};

class CandidateIndex {
 public:
  // Of crowds (kept by reference), only those who are compared meet.
  CandidateIndex(const Rule& rule, RunContext& context, const Crowds* crowds = nullptr);

  // The next row; no appearance comes twice.
  void add(std::uint64_t appearance, const ThumbnailCodes& codes);
  std::uint32_t rows() const { return static_cast<std::uint32_t>(appearances_.size()); }
  std::uint64_t appearance(std::uint32_t row) const { return appearances_[row]; }
  ThumbnailCodes codes(std::uint32_t row) const { return codes_.at(row); }
  // Makes room for so many rows more.
  void reserve(std::size_t count);
  // Bits in which two rows differ, by kCatalogCodes; nothing where the rule does not hold.
  std::optional<std::array<int, 4>> bits_between(std::uint32_t a, std::uint32_t b) const;
  // Pairs whose later row is in [begin, end). OutOfMemory when they do not fit.
  CandidatePairs search(std::uint32_t begin, std::uint32_t end) const;
  // Lets rows from `first` on meet all before them, part by part: visit(begin, end, pairs). Parts become smaller where
  // memory does not hold them, or where so many pairs come of them that a killed run would lose much.
  void each_part(std::uint32_t first,
                 const std::function<void(std::uint32_t, std::uint32_t, const CandidatePairs&)>& visit) const;

 private:
  bool are_compared(std::uint32_t i, std::uint32_t j) const;

  const Rule& rule_;
  RunContext& context_;
  std::vector<std::uint64_t> appearances_;
  CodeColumns codes_;
  const Crowds* crowds_;
  std::vector<Crowds::Levels> levels_;  // of each row, where there are crowds
};

}  // namespace millrace::dedupe
