// Input: the files and folders that the user named.
// Output: the videos among them, sorted by name, each with its own options.
// Never: gives two videos one name, or a name that leads out of the results folder; decodes a video.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/jobs/video/options.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// True if a folder or several videos were named; then the output is a folder.
bool is_collection(const VideoOptions& options);
// True if the name has the ending of a video.
bool has_video_extension(const std::string& path);

struct VideoInputs {
  std::vector<VideoOptions> videos;  // each with one input and its output path
  std::vector<Error> unreadable;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inodes;  // of all videos: device and inode
  std::uint64_t links = 0;                                   // symbolic links that were not followed
};
// Throws a Failure like find_inputs().
VideoInputs find_videos(const VideoOptions& options, const RunContext& context);

}  // namespace millrace::video
