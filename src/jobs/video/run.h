// Input: options.
// Output: the new film, and what happened on the way.
// Never: loses a picture of the film, or a stream without saying so before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/io/output/output.h"
#include "src/io/video/film_muxer.h"
#include "src/jobs/job.h"
#include "src/jobs/video/benchmark.h"
#include "src/jobs/video/network.h"
#include "src/jobs/video/options.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

struct Summary {
  // Whole now; or there already, made of the same; or pieces are missing that other runs are to make.
  enum class State : std::uint8_t { made, before, elsewhere };
  State state = State::made;
  Counts counts;
  std::uint64_t made = 0, taken = 0;  // frames: of this run; of others
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::string digest;  // of what it is made of
  std::string encoder, encoding, runtime, precision, not_cached, library;
  std::vector<std::string> filled_in;  // of colours
  std::vector<std::string> notes;      // what of the film is not in the new one
  std::uint64_t moved = 0;             // packets of sound and subtitles whose time the container does not take
  std::uint64_t expected = 0;          // frames, as the film says; 0: it does not
  std::vector<film::FilmMuxer::LeftOut> left_out;
};

// What has the new film's name, or nothing.
struct Place {
  Replaceable replaces{.anything = false, .looked_at = {}};  // what the film is put over
  // What is there and was not to be: where it was made of the same there is nothing left to do, else this is thrown.
  std::optional<Error> taken{};
  // It is what an earlier run of the same folder has made, as that has left it: it goes where it was made of something
  // else.
  bool is_earlier = false;
  // So do pieces.
  bool begin_anew = false;
};

// What it takes. `known` is what was measured before, on another film; where there is nothing in it that is filled.
Plan plan(const Options& options, const Place& place, Networks& networks, std::optional<Guess>& known,
          RunContext& context);
// `what` is counted, for whoever waits.
Summary run(const Options& options, const Place& place, Networks& networks, RunContext& context,
            const std::string& what = "frames");

}  // namespace millrace::video
