// Input: options that name several films, or a folder of them.
// Output: a new film of each, in a folder, one after the other by the same networks.
// Never: stops for a film that cannot be used; replaces what is not this program's.
#pragma once

#include <vector>

#include "src/jobs/video/run.h"

namespace millrace::video {

struct CollectionSummary {
  struct Film {
    Options options;  // its own
    Summary summary;
  };
  std::vector<Film> films;
  std::vector<Error> unusable;
  std::uint64_t left_to_others = 0;  // films of other parts
  std::uint64_t links = 0;           // symbolic links that were not followed
  std::string runtime, precision;
  double seconds = 0;
};

CollectionSummary run_collection(const Options& options, RunContext& context);
Plan plan_collection(const Options& options, RunContext& context);

}  // namespace millrace::video
