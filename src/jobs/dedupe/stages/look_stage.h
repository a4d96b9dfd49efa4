// Input: a library whose pictures were read, and a catalogue of them that is this run's own.
// Output: a folder of lines, one a pair of pictures that look alike, that say what close looks at them have found; made
// in parts by as many runs as there are. `dedupe --from` takes them into a catalogue. Never: groups or suggests.
#pragma once

#include "src/jobs/dedupe/run.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct LookStage {
  StoredLines stored;
  std::uint64_t sets = 0, looked_at = 0;  // all; pairs by this run
  std::uint64_t unseen = 0;               // pairs of which one could not be decoded: the search tries again
};
LookStage look_stage(const Options& options, Catalog& catalog, RunContext& context);

}  // namespace millrace::dedupe
