// Input: codes in a file, more than memory holds at once or than one machine shall join; how many rows are a block.
// Output: the pairs of rows that one join would have found: each block with itself and with those behind it, a task
//   each; in a folder of pairs.npy and run.json, in which a later run goes on, and of which runs take parts.
// Never: finds a pair twice; holds more than two blocks.
#pragma once

#include <cstdint>
#include <utility>

#include "src/jobs/join/run.h"

namespace millrace::join {

struct Blocks {
  std::uint64_t rows = 0, each = 1;

  // One of no rows where there are none.
  std::uint64_t count() const { return rows == 0 ? 1 : (rows + each - 1) / each; }
  std::uint64_t begin(std::uint64_t block) const { return block * each; }
  std::uint64_t end(std::uint64_t block) const { return begin(block) + each < rows ? begin(block) + each : rows; }
  std::uint64_t tasks() const { return count() * (count() + 1) / 2; }
  // 0 with 0, 0 with 1, ..., 1 with 1, ...
  std::pair<std::uint64_t, std::uint64_t> task(std::uint64_t k) const;
};

// What every output says of itself.
inline constexpr const char* kMark = "code pairs";

// Pairs into options.output, or, where that is empty, only counted. Failure(conflict) where the output was made of
// other codes, another radius or other blocks.
Summary run_in_blocks(const Options& options, RunContext& context);
Plan plan_in_blocks(const Options& options, RunContext& context);

}  // namespace millrace::join
