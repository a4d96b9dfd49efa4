// Input: options.
// Output: masks and probabilities of every picture, a table of them, and what could not be used.
// Never: does again what an earlier run has done of the same with the same.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/segment/precision.h"
#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct Summary {
  std::vector<PictureResult> pictures;  // in the order of their paths
  std::vector<Error> unusable;
  std::uint64_t taken = 0;     // pictures that an earlier run had done
  std::uint64_t resumed = 0;   // pictures that an earlier run had begun
  std::uint64_t windows = 0;   // of this run
  std::uint64_t left_out = 0;  // windows that nobody wanted, of all pictures
  std::uint64_t damaged = 0, cut = 0, spooled = 0;
  std::uint64_t of_several = 0, deep = 0, transparent = 0;  // pictures that hold more than the networks saw
  std::uint64_t elsewhere = 0;                              // pictures of other runs that share the folder
  bool is_last = true;                                      // none of them is still at it
  std::uint64_t missing = 0;  // pictures of theirs that are in no table, as none of them has made them
  double seconds = 0;
  std::string runtime, precision;
  std::optional<Agreement> agreement;  // why that precision, where it was to be found out
  Bytes peak, network;                 // of memory: the program's, and the networks' of it
  std::string report;                  // the page, where it was written
  std::string not_cached;              // why the compiled model is not kept; empty where it is
  Setup setup;                         // what the results are made with, for who tells of them
};

Plan plan(const Options& options, RunContext& context);
Summary run(const Options& options, RunContext& context);

}  // namespace millrace::segment
