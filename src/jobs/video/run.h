// Input: the options.
// Output: the new video, and a summary of the run.
// Never: loses a frame; loses a stream without a warning before the work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/io/video/video_muxer.h"
#include "src/jobs/job.h"
#include "src/jobs/video/benchmark.h"
#include "src/jobs/video/network.h"
#include "src/jobs/video/options.h"
#include "src/jobs/video/shard_folder.h"

namespace millrace::video {

struct VideoSummary {
  // State of the output: made now; made before with the same provenance; or shards are missing that other runs are to
  // make.
  enum class State : std::uint8_t { made, before, elsewhere };
  State state = State::made;
  FrameCounts counts;
  std::uint64_t made = 0, taken = 0;  // frames of this run; of other runs
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::string digest;  // input fingerprint
  std::string encoder, encoding, runtime, precision, cache_failure, library;
  std::vector<std::string> filled_in;  // color properties that were assumed
  std::vector<std::string> notes;      // properties of the input that the output lacks
  std::uint64_t moved = 0;             // packets of sound and subtitles whose times the container does not accept
  std::uint64_t expected = 0;          // number of frames according to the container; 0 if it is unknown
  std::vector<video_file::VideoMuxer::DroppedStream> dropped_streams;
};

// File or folder that has the output's name, if there is one.
struct VideoTarget {
  OverwritePolicy replaces{.any_file = false, .examined = {}};  // file that the output may replace
  // Error for an existing file that must not be replaced. It is thrown, unless the file has the same provenance: then
  // no work is left.
  std::optional<Error> taken{};
  // True if an earlier run of the same folder made the file and it has not changed since. It is replaced if its
  // provenance differs.
  bool is_from_previous_run = false;
  // True if unfinished shards are replaced likewise.
  bool begin_anew = false;
};

// Estimates the work. `known` has measurements from an earlier video; if it is empty, this video is measured and
// `known` is filled.
Plan plan(const VideoOptions& options, const VideoTarget& target, Networks& networks,
          std::optional<FrameEstimate>& known, RunContext& context);
// Makes the video. `what` names the counted items in the progress display.
VideoSummary run(const VideoOptions& options, const VideoTarget& target, Networks& networks, RunContext& context,
                 const std::string& what = "frames");

}  // namespace millrace::video
