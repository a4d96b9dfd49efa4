// Input: options that name several videos, or a folder of them.
// Output: a folder with one output per video; videos are processed one after the other with the same networks.
// Never: stops because a video cannot be used; replaces a file that this program did not write.
#pragma once

#include <vector>

#include "src/jobs/video/run.h"

namespace millrace::video {

struct CollectionSummary {
  struct Video {
    VideoOptions options;  // options of this video
    VideoSummary summary;
  };
  std::vector<Video> videos;
  std::vector<Error> unusable;
  std::uint64_t left_to_others = 0;  // videos that other runs of --part make
  std::uint64_t links = 0;           // symbolic links that were not followed
  std::string runtime, precision;
  double seconds = 0;
};

CollectionSummary run_collection(const VideoOptions& options, RunContext& context);
Plan plan_collection(const VideoOptions& options, RunContext& context);

}  // namespace millrace::video
