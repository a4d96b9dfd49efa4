// Input: codes, one a row.
// Output: which rows hold equal codes, and each node's code, in the order of first rows.
// Never: compares codes that are not equal in a 64-bit hash.
#pragma once

#include <algorithm>

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

template <typename Code>
struct CollapsedCodes {
  CodeNodes nodes;
  Buffer<Code> codes;  // code of each node
  Reservation memory;  // memory of `codes`
};

template <typename Code>
CollapsedCodes<Code> collapse(std::span<const Code> rows, const Executor& executor, Budget& budget);
extern template CollapsedCodes<std::uint64_t> collapse(std::span<const std::uint64_t>, const Executor&, Budget&);
extern template CollapsedCodes<Code256> collapse(std::span<const Code256>, const Executor&, Budget&);

// Number of rows of each node; empty where each node is one row.
struct NodeSizes {
  NodeSizes() = default;
  NodeSizes(const CodeNodes& nodes, Budget& budget) {
    if (nodes.count == nodes.of_row.size()) return;
    memory = budget.reserve({4 * std::uint64_t{nodes.count}}, "rows a node");
    rows.resize(nodes.count);
    std::fill(rows.begin(), rows.end(), 0);
    for (const std::uint32_t node : nodes.of_row.span()) ++rows[node];
    for (const std::uint32_t n : rows) inside += std::uint64_t{n} * (n - 1) / 2;
  }
  Reservation memory;
  Buffer<std::uint32_t> rows;
  std::uint64_t inside = 0;  // pairs of rows of one node
};

// Scratch memory for finding equal codes, for as many rows.
struct CollapseScratch {
  std::span<std::uint64_t> hashes;
  std::span<std::uint32_t> row_of, first;
};
// Same as collapse(), into memory that is already reserved: `out` has room for as many rows and nodes.
template <typename Code>
void collapse_into(std::span<const Code> rows, const Executor& executor, const CollapseScratch& scratch,
                   CollapsedCodes<Code>& out);
extern template void collapse_into(std::span<const std::uint64_t>, const Executor&, const CollapseScratch&,
                                   CollapsedCodes<std::uint64_t>&);
extern template void collapse_into(std::span<const Code256>, const Executor&, const CollapseScratch&,
                                   CollapsedCodes<Code256>&);

// Streams out the pairs of rows of pairs of nodes. With `a` alone these are its rows with each other, pairs inside a
// node too; with `b`, (i: row of a, j: row of b). It works like expand(), but reserves 60 bytes for each row, node and
// pair that comes out. The numbers are scratch memory, one for each node of a side.
void expand_few(const CodeNodes& a, const CodeNodes* b, HammingPairs pairs, std::span<std::uint32_t> numbers_of_a,
                std::span<std::uint32_t> numbers_of_b, const Executor& executor, Budget& budget, const PairSink& sink);

// Asks the kernel for huge pages: scattering 10 M codes to thousands of places misses the TLB otherwise.
void advise_huge_pages(void* data, std::size_t bytes);

template <typename T>
void allocate(Buffer<T>& buffer, std::size_t count) {
  const bool grows = count > buffer.size();
  buffer.resize(count);
  if (grows) advise_huge_pages(buffer.data(), count * sizeof(T));
}

// Returns the number of ranges that rows are cut into for counting and scattering; more ranges need more counters. The
// result does not depend on it.
inline std::size_t choose_range_count(std::size_t count, const Executor& executor) {
  const std::size_t most = 4 * static_cast<std::size_t>(executor.threads());
  const std::size_t fitting = count / 8192 + 1;
  return fitting < most ? fitting : most;
}

void throw_if_cancelled(const Executor& executor);

}  // namespace millrace::hamming
