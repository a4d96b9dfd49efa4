// Input: the summary of a run over one or several videos.
// Output: the summary in words, and as JSON.
// Never: decides what happened.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/jobs/video/collection.h"
#include "src/jobs/video/run.h"

namespace millrace::video {

// Returns one line per string.
std::vector<std::string> words_of(const VideoSummary& summary, const VideoOptions& options);
std::vector<std::string> words_of(const CollectionSummary& summary, const VideoOptions& options);
Json json_of(const VideoSummary& summary, const VideoOptions& options);
Json json_of(const CollectionSummary& summary);
// Adds lines for events while frames were made, by this run or by others.
void add_count_lines(const FrameCounts& counts, std::vector<std::string>& out);
// True if every video could be used and was decoded completely.
bool is_whole(const VideoSummary& summary);
bool is_whole(const CollectionSummary& summary);

}  // namespace millrace::video
