// Input: a video, and the time from which to read it.
// Output: its frames one by one in display order, while the next ones are being decoded.
// Never: decodes further ahead than it has slots; returns the pixels of a frame that is too large for a slot.
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

// A frame in a slot. The slot returns to the decoder with the frame's last owner.
struct Picture {
  std::shared_ptr<const std::uint8_t> pixels;  // laid out as by layout_of(shape); null where the slot is too small
  Shape shape;
  std::int64_t pts = kNoTime, duration = 0;
  bool damaged = false;
  std::uint64_t errors = 0;  // packets of this reader before this frame that could not be decoded
};

class FilmReader {
 public:
  // Holds up to `slots` frames of the shape of the video's first frame. With `from`, the decoder begins where the
  // container finds that time, which may be later; callers check the time of the first frame.
  FilmReader(const FilmFile& film, std::uint32_t slots, int threads, Bytes memory, std::optional<std::int64_t> from,
             const std::function<bool()>& cancelled);

  // Returns the next frame; nothing after the last one. Called on one thread at a time; waits for a frame, or for a
  // slot that is in use.
  std::optional<Picture> next();
  // Number of packets that could not be decoded; complete after the last frame.
  std::uint64_t errors() const { return errors_; }
  double seconds_computed() const { return process_->seconds_computed(); }

 private:
  const std::size_t slot_bytes_;
  const std::uint32_t slots_;
  std::shared_ptr<std::vector<std::atomic<bool>>> ours_;  // slots that are in use in this process
  std::shared_ptr<FilmProcess> process_;
  FilmProcess::Heard heard_;
  bool ended_ = false;
  std::uint64_t errors_ = 0;
};

}  // namespace millrace::film
