// Input: codes of 64 or 256 bits, one a row, and a radius.
// Output: every pair of rows whose codes differ in at most `radius` bits, exactly, sorted.
// Never: approximates, reports a pair twice, or lets the thread count or the CPU level change a byte.
//
// Meaning. distance(a, b) is the number of bits in which two codes differ; a pair is within range
// when distance <= radius (not <). Which byte of a code holds which bit does not matter.
//
// Nodes. Equal codes are collapsed first: a node is all rows with one code, and nodes are numbered
// 0, 1, ... by their first row. So 20,000 equal codes are one node instead of 200 million pairs.
// self_join() gives pairs of nodes; pairs inside a node (distance 0) are implied and counted;
// expand() streams out the pairs of rows.
//
// Memory. Besides the caller's codes, for codes of 64 bits: about 41 bytes a code in the roomy layout, 28 in the lean
// one, which is taken when the budget does not hold the first. For codes of 256 bits: at most 112 and 76. A pair found
// takes 24 bytes while pairs are sorted (and 3 MiB a thread), then 12; counting takes none. Everything is reserved from
// the budget before it is allocated; OutOfMemory names what did not fit.
//
// Engines. If an accelerator is given, codes are compared there (hamming_device.h); pairs and their order are the same.
//
// Errors. Failure(usage) for a radius below 0, Failure(too_large) from 2^32 - 1 rows on,
// Failure(cancelled) when the executor was cancelled, OutOfMemory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/device/engines.h"
#include "src/memory/budget.h"
#include "src/memory/buffer.h"

namespace millrace::hamming {

struct Code256 {
  std::array<std::uint64_t, 4> words;
  friend bool operator==(const Code256&, const Code256&) = default;
};

struct HammingPair {
  std::uint32_t i, j;
  std::uint32_t distance;
  friend auto operator<=>(const HammingPair&,
                          const HammingPair&) = default;  // NOLINT(modernize-use-nullptr): what it expands to
};

// `automatic` uses the cost model. `index` falls back to brute force only when its parts turn out to be so uneven that
// it would have to compare more pairs than brute force does.
enum class Algorithm { automatic, brute, index };
const char* name_of(Algorithm algorithm);

struct Options {
  int radius = 0;
  Algorithm algorithm = Algorithm::automatic;
  // Called from any thread with the number of codes that were compared since the last call, and the number of all
  // codes.
  std::function<void(std::uint64_t more, std::uint64_t all)> progress = nullptr;
};

// Rows grouped by equal codes.
struct CodeNodes {
  Buffer<std::uint32_t> of_row;  // each row's node
  std::uint32_t count = 0;
  Reservation memory;
};

// Pairs sorted by (i, j), with the memory they hold.
struct HammingPairs {
  Buffer<HammingPair> list;
  Reservation memory;
};

struct JoinResult {
  CodeNodes nodes;
  HammingPairs pairs;           // of nodes, i < j; none where they were only counted
  std::uint64_t collapsed = 0;  // number of pairs of nodes
  std::uint64_t expanded = 0;   // pairs of rows within range, those inside nodes included
  Algorithm used = Algorithm::brute;
  std::string why;  // reason in words, with the numbers that decided
};

JoinResult self_join(std::span<const std::uint64_t> codes, const Options& options, const Engines& engines,
                     Budget& budget);
JoinResult self_join(std::span<const Code256> codes, const Options& options, const Engines& engines, Budget& budget);

// Same as self_join(), but pairs are only counted.
JoinResult count(std::span<const std::uint64_t> codes, const Options& options, const Engines& engines, Budget& budget);
JoinResult count(std::span<const Code256> codes, const Options& options, const Engines& engines, Budget& budget);

// Estimate of self_join(), or, where it `collects` nothing, of count(). A sample of the nodes is compared with all of
// them, in a second or less for a million codes. Numbers of pairs are about right where the sample has some.
struct JoinEstimate {
  std::uint64_t nodes = 0;
  double collapsed = 0, expanded = 0;  // numbers of pairs of nodes, of rows
  std::optional<double> seconds;       // none where the device that would be used was not measured
  Bytes memory;                        // of the pairs while they are sorted; "Memory" above lists the rest
  std::string why;                     // as JoinResult::why
  std::string where;  // the side that would compare them and why, with both times; empty where there is the CPU alone
};
JoinEstimate estimate(std::span<const std::uint64_t> codes, const Options& options, bool collects,
                      const Engines& engines, Budget& budget);
JoinEstimate estimate(std::span<const Code256> codes, const Options& options, bool collects, const Engines& engines,
                      Budget& budget);

// Receives blocks of at most kBlock pairs of rows, i < j, sorted by (i, j) within and across blocks, on the calling
// thread. An exception from it ends the expansion.
inline constexpr std::size_t kBlock = std::size_t{1} << 16;
using PairSink = std::function<void(std::span<const HammingPair>)>;

// Streams out the `joined.expanded` pairs of rows. Memory: 20 bytes a row, 20 a node, 16 a pair of
// nodes, and 4 MiB, however many pairs come out.
void expand(const JoinResult& joined, const Executor& executor, Budget& budget, const PairSink& sink);
// Bytes that expand() reserves.
Bytes expand_bytes(std::uint64_t rows, std::uint64_t nodes, std::uint64_t pairs);

// Second condition on a pair of rows, called from many threads, so that only pairs that meet it too are kept.
// Collections of photographs have hundreds of times more pairs within 8 bits than pairs that a second hash accepts.
using PairFilter = std::function<bool(std::uint32_t i, std::uint32_t j)>;

// Pairs (i: row of queries, j: row of base) within range that `also` accepts, sorted by (i, j). Equal codes are not
// collapsed.
struct CodeSearchResult {
  HammingPairs pairs;
  Algorithm used = Algorithm::brute;
  std::string why;
};
CodeSearchResult search(std::span<const std::uint64_t> queries, std::span<const std::uint64_t> base,
                        const Options& options, const Engines& engines, Budget& budget, const PairFilter& also = {});
CodeSearchResult search(std::span<const Code256> queries, std::span<const Code256> base, const Options& options,
                        const Engines& engines, Budget& budget, const PairFilter& also = {});

// Reference by the definition: two loops. For tests.
namespace reference {
JoinResult self_join(std::span<const std::uint64_t> codes, int radius, Budget& budget);
JoinResult self_join(std::span<const Code256> codes, int radius, Budget& budget);
std::vector<HammingPair> row_pairs(std::span<const std::uint64_t> codes, int radius);
std::vector<HammingPair> row_pairs(std::span<const Code256> codes, int radius);
std::vector<HammingPair> search(std::span<const std::uint64_t> queries, std::span<const std::uint64_t> base,
                                int radius);
std::vector<HammingPair> search(std::span<const Code256> queries, std::span<const Code256> base, int radius);
}  // namespace reference

}  // namespace millrace::hamming
