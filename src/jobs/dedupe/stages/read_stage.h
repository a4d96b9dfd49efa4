// Input: folders, or a list of the files in them.
// Output: a folder of lines, one for each file, with the result of reading it. Several runs may each write some of its
// shards. `dedupe --from` imports the folder into a catalog.
// Never: opens a catalog: many machines read at once.
#pragma once

#include "src/jobs/dedupe/options.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct ReadStageResult {
  StoredLines stored;
  std::uint64_t pictures = 0, unusable = 0, bytes = 0;  // of this run
};
ReadStageResult make_read_shards(const DedupeOptions& options, RunContext& context);

}  // namespace millrace::dedupe
