// Input: a film, and where in it to begin.
// Output: its pictures one by one, in the order in which they are shown, while the next ones are being decoded.
// Never: decodes further ahead than it has slots for; gives out a picture that its slot is too small for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/io/video/film_file.h"
#include "src/io/video/film_process.h"

namespace millrace::film {

// A picture in a slot, which goes back to the decoder with the last of its owners.
struct Picture {
  std::shared_ptr<const std::uint8_t> pixels;  // as layout_of(shape) has them; null where its slot is too small
  Shape shape;
  std::int64_t pts = kNoTime, duration = 0;
  bool damaged = false;
  std::uint64_t errors = 0;  // packets before it, of this reader, that could not be decoded
};

class FilmReader {
 public:
  // `slots` pictures of the film's first one's shape are there at once. `from`: the decoder begins where the container
  // finds that time, which may be later; whoever needs what lies there looks at the first picture's time.
  FilmReader(const FilmFile& film, std::uint32_t slots, int threads, Bytes memory, std::optional<std::int64_t> from,
             const std::function<bool()>& cancelled);

  // Nothing behind the last one. One thread at a time; waits for one, or for a slot that somebody has.
  std::optional<Picture> next();
  // Packets that could not be decoded; known behind the last picture.
  std::uint64_t errors() const { return errors_; }
  double seconds_computed() const { return process_->seconds_computed(); }

 private:
  const std::size_t slot_bytes_;
  const std::uint32_t slots_;
  std::shared_ptr<std::vector<std::atomic<bool>>> ours_;  // slots that somebody here still has
  std::shared_ptr<FilmProcess> process_;
  FilmProcess::Heard heard_;
  bool ended_ = false;
  std::uint64_t errors_ = 0;
};

}  // namespace millrace::film
