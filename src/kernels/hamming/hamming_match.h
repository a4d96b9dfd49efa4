// Input: two sides of codes in bucket order, cut into columns of 32-bit words, and a range of positions of side a.
// Output: the pairs of positions that pass the tested words, passed to `accept` in batches.
// Never: decides which part of an index reports a pair; hamming_index_part.cc does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::hamming {

inline constexpr int kMaxColumns = 8;
inline constexpr std::size_t kOverread = 32;

// Codes of a side: column c of position p is columns[c][p]; bucket k is positions starts[k] to starts[k + 1]. At least
// one vector may be read past the end of a column.
struct BucketSide {
  const std::uint32_t* columns[kMaxColumns] = {};
  const std::uint32_t* starts = nullptr;
};

struct Hit {
  std::uint32_t a, b;
};

struct MatchTask {
  BucketSide a, b;
  // Number of columns whose differing bits are counted for every pair, and number of columns that exist. The others are
  // counted only when some pair of a block passed.
  int tested = 1;
  int stored = 1;
  std::int32_t radius = 0;
  // True for a collection with itself: pairs inside a bucket once, and each pair of buckets once.
  bool self = true;
  // Bucket k of side a is compared with bucket k ^ flip of side b for each flip; for `self` also with itself.
  std::span<const std::uint32_t> flips;
  std::size_t begin = 0, end = 0;  // positions of side a
  std::uint32_t first_bucket = 0;  // the bucket of `begin`
  // Takes the hits so far and clears them; returns false to stop the task.
  bool (*accept)(void* context, std::vector<Hit>& hits) = nullptr;
  void* context = nullptr;
};

// Runs a task at the current CPU level.
void match(const MatchTask& task);

}  // namespace millrace::hamming
