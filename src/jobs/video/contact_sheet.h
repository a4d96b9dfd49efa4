// Input: the options.
// Output: a contact sheet with a few frames of the new video.
// Never: encodes a video.
#pragma once

#include "src/io/output/output.h"
#include "src/jobs/video/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct ContactSheet {
  std::uint64_t pictures = 0;
  int width = 0, height = 0;  // of the sheet
  std::string runtime, precision;
};

// Draws `count` frames at evenly spaced times. Smoothing and reuse, which depend on earlier frames, are disabled.
ContactSheet sample(const VideoOptions& options, std::uint64_t count, const OutputTarget& output, RunContext& context);

}  // namespace millrace::video
