// Input: folders, or a list of what is in them.
// Output: a folder of lines, one a file, that say what reading it has brought; made in parts by as many runs as there
//   are. `dedupe --from` takes them into a catalogue.
// Never: opens a catalogue: many machines read at once.
#pragma once

#include "src/jobs/dedupe/options.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

struct ReadStage {
  StoredLines stored;
  std::uint64_t pictures = 0, unusable = 0, bytes = 0;  // of this run
};
ReadStage read_stage(const Options& options, RunContext& context);

}  // namespace millrace::dedupe
