// Input: a library whose pictures were read, and a catalog that belongs to this run alone.
// Output: a folder of lines, one for each pair of pictures that look alike, with the result of its detailed check.
// Several runs may each write some of its shards. `dedupe --from` imports the folder into a catalog.
// Never: forms groups or suggests.
#pragma once

#include "src/jobs/dedupe/run.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct CheckStageResult {
  StoredLines stored;
  std::uint64_t sets = 0, compared_pairs = 0;  // all sets; pairs checked by this run
  std::uint64_t undecodable_pairs = 0;         // pairs of which one could not be decoded: the search tries again
};
CheckStageResult make_check_shards(const DedupeOptions& options, Catalog& catalog, RunContext& context);

}  // namespace millrace::dedupe
