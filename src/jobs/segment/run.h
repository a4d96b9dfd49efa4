// Enters: options.
// Leaves: masks and probabilities of every picture, a table of them, and what could not be used.
// Never: does again what an earlier run has done of the same with the same.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/segment/results.h"

namespace millrace::segment {

inline constexpr const char* kRunFile = "run.json";
inline constexpr const char* kTableFile = "pictures.csv";

struct Summary {
  std::vector<PictureResult> pictures;  // in the order of their paths
  std::vector<Error> unusable;
  std::uint64_t taken = 0;    // pictures that an earlier run had done
  std::uint64_t windows = 0;  // of this run
  std::uint64_t pixels = 0;   // of this run's pictures
  std::uint64_t damaged = 0;
  double seconds = 0;
  std::string runtime, precision;
  std::vector<std::string> class_names;
};

bool is_input(const Options& options, const std::string& path);
Plan plan(const Options& options, RunContext& context);
Summary run(const Options& options, RunContext& context);

}  // namespace millrace::segment
