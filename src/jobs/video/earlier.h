// Input: the name of a new film, or of a folder of masks.
// Output: whether this program has made what has it, of what, and what was counted then.
// Never: believes a film that is not as it was left, where that was written down.
//
// A film says it in its container, as what has written it; masks in a run.json beside them. In a folder of films a
// record beside each, NAME.video.json, says how it was left.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "src/jobs/video/segments.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

struct Earlier {
  std::string digest;  // of what it was made of: Setup::digest()
  Counts counts;       // frames, damaged and errors alone
};

// What a film says has written it. `network` is words of the network, empty without one.
std::string writer_text(const Earlier& made, const std::string& network);
// Nothing where it is no film, or none of this program's. Failure(cancelled).
std::optional<Earlier> earlier_film(const std::string& path, RunContext& context);
// Nothing where it is no folder of masks of this program's, or one of them is missing.
std::optional<Earlier> earlier_masks(const std::string& folder);
// For the folder of masks, beside its run.json; `makers` as pieces name them.
std::string masks_note(const Earlier& made, const std::set<std::string>& makers);

// The record of a film, or of a folder of masks, that has just been made.
void write_record(const std::string& output, const Earlier& made);
// It, where that is as it was left.
std::optional<Earlier> record_of(const std::string& output);

// A number of a few parts of a file: of gigabytes nobody reads all, and whoever cuts a film, or encodes it anew,
// changes its size or its front.
std::string fingerprint_of(int file, std::uint64_t size);

}  // namespace millrace::video
