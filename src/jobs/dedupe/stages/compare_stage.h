// Input: a library whose pictures were read, and a catalogue of them that is this run's own.
// Output: a folder of lines that say which pictures look alike, by their hashes and thumbnails; made in parts by as
// many runs as there are. `dedupe --from` takes them into a catalogue. Never: looks at a picture closely, groups or
// suggests.
#pragma once

#include "src/jobs/dedupe/run.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct CompareStage {
  StoredLines stored;
  std::uint64_t pictures = 0;  // that look each otherwise
  std::uint64_t links = 0;     // pairs that look alike, that this run has found
};
CompareStage compare_stage(const Options& options, Catalog& catalog, RunContext& context);

// The first row of a shard, so that each has about as many pairs: each row meets all before it.
std::uint64_t first_row_of(std::uint64_t shard, std::uint64_t shards, std::uint64_t rows);

}  // namespace millrace::dedupe
