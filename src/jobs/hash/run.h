// Input: folders and files.
// Output: a line of hashes an image, in the order of their paths.
// Never: stops at a file that cannot be read; it is listed with its reason.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "src/jobs/hash/options.h"
#include "src/jobs/job.h"
#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::hash {

struct Summary {
  std::uint64_t pictures = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t damaged = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  StoredLines stored;  // of an output, and not of this run alone
};

// Writes the output through `write`, in pieces that are whole lines.
Summary run(const Options& options, RunContext& context, const std::function<void(std::string_view)>& write);

// The same lines in the output, in parts that a later run takes, or that several runs share.
Summary store(const Options& options, RunContext& context);

// True for a file that a run would read if it lay in a folder that was named.
bool is_input(const Options& options, const std::string& path);

Plan plan(const Options& options, RunContext& context);

// The shortest side that a reduced decoding keeps in `fast`, from the drift curve in docs/performance.md.
int fast_shortest_side(const HashRequest& request);

}  // namespace millrace::hash
