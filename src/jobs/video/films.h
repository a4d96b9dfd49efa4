// Input: what a person named.
// Output: the films in it, each with the options that it alone is made by, in the order of their names.
// Never: gives two films one name, or one that leads out of the folder of results; decodes anything.
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

// A folder was named, or several films: what is made is a folder too.
bool is_collection(const Options& options);
// By its ending.
bool is_film_name(const std::string& path);

struct Films {
  std::vector<Options> films;  // each with one input, and the output's path
  std::vector<Error> unreadable;
  std::set<std::pair<std::uint64_t, std::uint64_t>> inodes;  // of all of them: device and number
  std::uint64_t links = 0;                                   // symbolic links that were not followed
};
// Failure as of find_inputs().
Films find_films(const Options& options, const RunContext& context);

}  // namespace millrace::video
