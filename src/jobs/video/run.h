// Enters: options.
// Leaves: the new film, and what happened on the way.
// Never: loses a picture of the film, or a stream without saying so before.
#pragma once

#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/job.h"
#include "src/jobs/video/options.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

struct Summary {
  Counts counts;
  std::uint64_t taken = 0;  // frames that an earlier run has made
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::string encoder, encoding, runtime, precision, not_cached, library;
  std::vector<std::string> filled_in;  // of colours
  std::vector<std::string> notes;      // what of the film is not in the new one
  std::uint64_t moved = 0;             // packets of sound and subtitles whose time the container does not take
  std::uint64_t expected = 0;          // frames, as the film says; 0: it does not
  std::vector<film::FilmMuxer::LeftOut> left_out;
};

Plan plan(const Options& options, RunContext& context);
Summary run(const Options& options, const Output& output, RunContext& context);

}  // namespace millrace::video
