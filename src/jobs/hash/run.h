// Input: folders and files.
// Output: one line of hashes per image, sorted by path.
// Never: stops at a file that cannot be read; the file is listed with the reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/jobs/hash/options.h"
#include "src/jobs/job.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::hash {

struct HashSummary {
  std::uint64_t pictures = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t damaged = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  StoredLines stored;  // of the whole output, including the shards of other runs
};

// Passes the output to `write` as strings of whole lines.
HashSummary run(const HashJobOptions& options, RunContext& context, const std::function<void(std::string_view)>& write);

// Writes the same lines to the output, in shards that a later run resumes or that several runs share.
HashSummary store(const HashJobOptions& options, RunContext& context);

// True for a file that a run would read from a folder that was named.
bool is_input(const HashJobOptions& options, const std::string& path);

Plan plan(const HashJobOptions& options, RunContext& context);

// Returns the shortest side, in pixels, that `fast` decoding keeps; see the drift curve in docs/performance.md.
int choose_fast_side(const HashRequest& request);

}  // namespace millrace::hash
