// Input: a library whose pictures were read, and a catalog that belongs to this run alone.
// Output: a folder of lines that say which pictures look alike, by their hashes and thumbnails. Several runs may each
// write some of its shards. `dedupe --from` imports the folder into a catalog.
// Never: checks a pair in detail, forms groups or suggests.
#pragma once

#include "src/jobs/dedupe/run.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct CompareStageResult {
  StoredLines stored;
  std::uint64_t pictures = 0;  // number of pictures with different appearances
  std::uint64_t links = 0;     // pairs that look alike, found by this run
};
CompareStageResult make_compare_shards(const DedupeOptions& options, Catalog& catalog, RunContext& context);

// Returns the first row of a shard. Each row is compared with all rows before it, so shards are cut to have about as
// many pairs each.
std::uint64_t first_row_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t rows);

}  // namespace millrace::dedupe
