// Input: a file of codes, too many for the memory or for one machine; the number of rows per block.
// Output: the pairs of rows that a single join would find. A task joins a block with itself or with a later one. The
//   output is a folder with pairs.npy and run.json. A later run resumes it, and several runs can share its tasks.
// Never: finds a pair twice; holds more than two blocks in memory.
#pragma once

#include <cstdint>
#include <utility>

#include "src/jobs/join/run.h"

namespace millrace::join {

struct BlockLayout {
  std::uint64_t rows = 0, each = 1;

  // Returns the number of blocks; without rows it is 1, an empty block.
  std::uint64_t count() const { return rows == 0 ? 1 : (rows + each - 1) / each; }
  std::uint64_t begin(std::uint64_t block) const { return block * each; }
  std::uint64_t end(std::uint64_t block) const { return begin(block) + each < rows ? begin(block) + each : rows; }
  std::uint64_t tasks() const { return count() * (count() + 1) / 2; }
  // Returns the two blocks of task k, in the order 0 with 0, 0 with 1, ..., 1 with 1, ...
  std::pair<std::uint64_t, std::uint64_t> task(std::uint64_t k) const;
};

// Mark of every output.
inline constexpr const char* kMark = "code pairs";

// Writes pairs to options.output, or only counts them if that is empty. Throws Failure(conflict) if an existing output
// has other codes, another radius or other blocks.
JoinSummary run_block_join(const Options& options, RunContext& context);
Plan plan_block_join(const Options& options, RunContext& context);

}  // namespace millrace::join
