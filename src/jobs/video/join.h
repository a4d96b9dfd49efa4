// Input: the pieces of a film, all of them, and the film that they were made of.
// Output: the new film.
// Never: encodes again; changes a picture's time.
#pragma once

#include <functional>

#include "src/jobs/video/segments.h"
#include "src/jobs/video/setup.h"

namespace millrace::video {

struct Joined {
  std::uint64_t bytes = 0;  // of the film
  std::uint64_t moved = 0;  // packets of other streams, as FilmMuxer::run() has it
};

// Writes the film into the folder of pieces, under `name`; `writer` is what it says has made it. Failure(conflict)
// where pieces do not go together; (bad_data), of the piece, where one is not what it was.
Joined join(Segments& segments, Setup& setup, const std::string& name, const std::string& writer,
            const std::function<void()>& go_on);

}  // namespace millrace::video
