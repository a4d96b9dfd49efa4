// Input: all shards of a video, and the input video.
// Output: the new video.
// Never: encodes again; changes a frame's time.
#pragma once

#include <functional>

#include "src/jobs/video/setup.h"
#include "src/jobs/video/shard_folder.h"

namespace millrace::video {

struct JoinResult {
  std::uint64_t bytes = 0;  // size of the video
  std::uint64_t moved = 0;  // packets of other streams, as in VideoMuxer::run()
};

// Writes the video into the folder of shards under `name`; `writer` is its tag for the writing application. Throws
// Failure(conflict) if shards do not fit together, and Failure(bad_data), with the shard, if one is damaged.
JoinResult join(ShardFolder& shards, Setup& setup, const std::string& name, const std::string& writer,
                const std::function<void()>& check_cancelled);

}  // namespace millrace::video
