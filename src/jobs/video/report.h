// Enters: what a run of a film has left.
// Leaves: the same in words, and as JSON.
// Never: decides what happened.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/jobs/video/run.h"

namespace millrace::video {

// A line each.
std::vector<std::string> words_of(const Summary& summary, const Options& options);
nlohmann::ordered_json json_of(const Summary& summary, const Options& options);
// All of the film could be decoded.
bool is_whole(const Summary& summary);

}  // namespace millrace::video
