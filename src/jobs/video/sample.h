// Input: options.
// Output: a sheet of a few pictures of what the new film would be.
// Never: encodes anything.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/video/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct Sampled {
  std::uint64_t pictures = 0;
  int width = 0, height = 0;  // of the sheet
  std::string runtime, precision;
};

// `count` moments, from the beginning to the end, at even distances. What lies over time, smoothing and reuse, is left
// out.
Sampled sample(const Options& options, std::uint64_t count, const Output& output, RunContext& context);

}  // namespace millrace::video
