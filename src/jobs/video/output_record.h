// Input: the name of an output video, or of an output folder of masks.
// Output: whether this program made the file or folder; if so, its input fingerprint and its counts.
// Never: trusts a video that was changed since it was written, if its state was recorded.
//
// A video stores these values in its container, as the writing application; masks store them in masks.json beside them.
// In an output folder of several videos a record beside each, NAME.video.json, stores the state in which it was left.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "src/jobs/video/shard_folder.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct OutputRecord {
  std::string digest;  // input fingerprint: Setup::digest()
  FrameCounts counts;  // only frames, damaged and errors
};

// Returns the container's tag for the writing application. `network` describes the network; it is empty without one.
std::string format_writer_tag(const OutputRecord& made, const std::string& network);
// Reads that tag; nothing if the file is no video, or was not made by this program. Throws Failure(cancelled).
std::optional<OutputRecord> read_video_tag(const std::string& path, RunContext& context);
// Reads masks.json; nothing if the folder is not one of this program's folders of masks, or a mask is missing.
std::optional<OutputRecord> read_masks_record(const std::string& folder);
// Returns the content of masks.json; `runtimes_and_cpus` are those that the shards name.
std::string format_masks_record(const OutputRecord& made, const std::set<std::string>& runtimes_and_cpus);

// Writes the record of a video, or of a folder of masks, that has just been made.
void write_output_record(const std::string& output, const OutputRecord& made);
// Reads that record; nothing if the output was changed since.
std::optional<OutputRecord> read_output_record(const std::string& output);

// Returns the size and a hash of a few samples of the file, as reading gigabytes takes too long. Cutting or re-encoding
// a video changes its size or its beginning.
std::string hash_file_samples(int file, std::uint64_t size);

}  // namespace millrace::video
