// Input: what a run has left, of one film or of several.
// Output: the same in words, and as JSON.
// Never: decides what happened.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/jobs/video/collection.h"
#include "src/jobs/video/run.h"

namespace millrace::video {

// A line each.
std::vector<std::string> words_of(const Summary& summary, const Options& options);
std::vector<std::string> words_of(const CollectionSummary& summary, const Options& options);
Json json_of(const Summary& summary, const Options& options);
Json json_of(const CollectionSummary& summary);
// What happened on the way to the frames, whoever made them.
void say_counts(const Counts& counts, std::vector<std::string>& out);
// Every film could be used, and all of it decoded.
bool is_whole(const Summary& summary);
bool is_whole(const CollectionSummary& summary);

}  // namespace millrace::video
