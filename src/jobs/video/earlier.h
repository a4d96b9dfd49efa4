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

#include "src/jobs/video/segments.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct Earlier {
  std::string digest;  // input fingerprint: Setup::digest()
  Counts counts;       // only frames, damaged and errors
};

// Returns the container's tag for the writing application. `network` describes the network; it is empty without one.
std::string writer_text(const Earlier& made, const std::string& network);
// Reads that tag; nothing if the file is no video, or was not made by this program. Throws Failure(cancelled).
std::optional<Earlier> earlier_film(const std::string& path, RunContext& context);
// Reads masks.json; nothing if the folder is not one of this program's folders of masks, or a mask is missing.
std::optional<Earlier> earlier_masks(const std::string& folder);
// Returns the content of masks.json; `makers` are the runtimes and CPUs that the shards name.
std::string masks_note(const Earlier& made, const std::set<std::string>& makers);

// Writes the record of a video, or of a folder of masks, that has just been made.
void write_record(const std::string& output, const Earlier& made);
// Reads that record; nothing if the output was changed since.
std::optional<Earlier> record_of(const std::string& output);

// Returns the size and a hash of a few samples of the file, as reading gigabytes takes too long. Cutting or re-encoding
// a video changes its size or its beginning.
std::string fingerprint_of(int file, std::uint64_t size);

}  // namespace millrace::video
