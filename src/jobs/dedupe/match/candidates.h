// Enters: appearances with their hashes, one after another, and a rule.
// Leaves: the pairs of them that are worth comparing.
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

// Two rows, a < b, and the orientations in which the rule holds when the greater appearance is turned: a bit each, by
// index_of().
struct RowPair {
  std::uint32_t a = 0, b = 0;
  std::uint8_t orientations = 0;
};

// Pairs, sorted, with the memory they hold.
struct CandidatePairs {
  std::vector<RowPair> pairs;
  std::vector<Reservation> memory;
};

class CandidateIndex {
 public:
  // Of crowds (kept by reference), only those who are compared meet.
  CandidateIndex(const Rule& rule, bool orientations, RunContext& context, const Crowds* crowds = nullptr);

  // The next row; no appearance comes twice. One view, or with orientations eight, by index_of().
  void add(std::uint64_t appearance, std::span<const ThumbnailCodes> views);
  std::uint32_t rows() const { return static_cast<std::uint32_t>(appearances_.size()); }
  std::uint64_t appearance(std::uint32_t row) const { return appearances_[row]; }
  ThumbnailCodes codes(std::uint32_t row, std::size_t view) const;
  // Makes room for so many rows more.
  void reserve(std::size_t count);
  // Bits in which two rows differ, by kCatalogCodes, in the orientation in which they are nearest of those where the
  // rule holds; nothing where it holds in none.
  std::optional<std::array<int, 4>> nearest(std::uint32_t a, std::uint32_t b) const;
  // Pairs whose later row is in [begin, end). OutOfMemory when they do not fit.
  CandidatePairs search(std::uint32_t begin, std::uint32_t end) const;
  // Lets rows from `first` on meet all before them, part by part: visit(begin, end, pairs). Parts become smaller where
  // memory does not hold them, or where so many pairs come of them that a killed run would lose much.
  void each_part(std::uint32_t first,
                 const std::function<void(std::uint32_t, std::uint32_t, const CandidatePairs&)>& visit) const;

 private:
  using Fits = std::function<bool(std::uint64_t query, std::uint64_t base)>;
  bool are_compared(std::uint32_t i, std::uint32_t j) const;
  void search_views(const CodeColumns& queries, const CodeColumns& base, std::uint32_t begin, std::uint32_t end,
                    std::uint8_t orientation, const Fits& fits, CandidatePairs& out) const;

  const Rule& rule_;
  RunContext& context_;
  std::vector<std::uint64_t> appearances_;
  std::vector<CodeColumns> views_;
  const Crowds* crowds_;
  std::vector<Crowds::Levels> levels_;  // of each row, where there are crowds
};

}  // namespace millrace::dedupe
