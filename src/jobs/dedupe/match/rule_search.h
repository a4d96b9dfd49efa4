// Input: hashes of appearances, in columns, and a rule.
// Output: pairs in which one of its alternatives holds.
// Never: knows what the rows are.
#pragma once

#include <span>
#include <vector>

#include "src/jobs/dedupe/options.h"
#include "src/jobs/dedupe/scan/thumbnail_codes.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::dedupe {

// Hashes by kind, a column each, so that a search reads only what it compares.
class CodeColumns {
 public:
  void add(const ThumbnailCodes& codes);
  void reserve(std::size_t more);
  std::size_t rows() const { return of_slot_[0].size(); }
  ThumbnailCodes at(std::size_t row) const;
  const std::vector<std::uint64_t>& of(bool middle, HashKind kind) const;

 private:
  std::array<std::vector<std::uint64_t>, std::tuple_size_v<ThumbnailCodes>> of_slot_;
};

// What of two rows meets: with Rule::middle the whole of one meets the middle of the other; middles do not meet, since
// what they have in common the wholes have too.
struct HashView {
  bool query_middle, base_middle;
};
std::span<const HashView> views_of_rule(const Rule& rule);

// The definition of what a search finds, for one pair.
bool holds(const Rule& rule, const ThumbnailCodes& a, const ThumbnailCodes& b);

// Bits in which two pictures differ, by kCatalogCodes.
std::array<int, 4> distances(const ThumbnailCodes& a, const ThumbnailCodes& b);

// The rows of a search: [begin, end) of the queries, [0, base_end) of the base.
struct Rows {
  const CodeColumns* queries;
  std::size_t begin, end;
  const CodeColumns* base;
  std::size_t base_end;
};

// Pairs (i, j) of a row of the queries, counted from `begin`, and one of the base in which all terms hold and that
// `also` lets through; it is asked from many threads. The first term is served by the range search, the others filter
// its pairs as they are found.
hamming::Found search(const std::vector<RuleTerm>& terms, const Rows& rows, HashView hash_view, const Engines& engines,
                      Budget& budget, const hamming::Also& also);

// Visits each pair that a search of the whole rule finds once, from many threads: visit(i, j), i counted from `begin`.
void each_pair(const Rule& rule, const Rows& rows, const Engines& engines, Budget& budget,
               const std::function<void(std::uint32_t, std::uint32_t)>& visit);

}  // namespace millrace::dedupe
