// Input: the options.
// Output: masks and probabilities of every image, tables of them, and the list of files that could not be used.
// Never: repeats work whose results an earlier run has left with the same provenance.
#pragma once

#include <string>
#include <vector>

#include "src/jobs/job.h"
#include "src/jobs/segment/precision.h"
#include "src/jobs/segment/record.h"

namespace millrace::segment {

struct SegmentSummary {
  std::vector<PictureResult> pictures;  // sorted by path
  std::vector<Error> unusable;
  std::uint64_t already_complete = 0;  // images that an earlier run had finished
  std::uint64_t resumed = 0;           // images that an earlier run had begun
  std::uint64_t windows = 0;           // of this run
  std::uint64_t left_out = 0;          // windows that were left out, of all images
  std::uint64_t damaged = 0, cut = 0, spooled = 0;
  std::uint64_t of_several = 0, deep = 0, transparent = 0;  // images whose files hold more than the networks saw
  std::uint64_t elsewhere = 0;                              // images of other runs that share the folder
  bool is_last = true;                                      // true if no other run is still at work
  // Images of other runs that are in no table, as no run has processed them.
  std::uint64_t missing = 0;
  double seconds = 0;
  std::string runtime, precision;
  std::optional<PrecisionDecision> precision_decision;  // reason for the precision, with --precision auto
  Bytes peak, network;                                  // memory: of the whole program, and of the networks
  std::string report;                                   // path of the report page, if it was written
  std::string cache_failure;                            // reason why the compiled model is not cached; empty if it is
  Setup setup;                                          // setup of the results, needed to report them
};

Plan plan(const Options& options, RunContext& context);
SegmentSummary run(const Options& options, RunContext& context);

}  // namespace millrace::segment
