// Enters: pictures of the new film in their order, each with the piece that it belongs to.
// Leaves: the pieces, each whole under its name.
// Never: gives a piece its name before its last packet is on the disk.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "src/io/video/film_encoder.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

class PiecesWriter {
 public:
  PiecesWriter(const Segments& segments, const film::EncoderOptions& options, const std::string& subject,
               std::uint32_t slots, Bytes memory, const std::function<bool()>& cancelled);

  film::FilmEncoder::Slot room() { return encoder_.room(); }
  // One thread at a time.
  void add(FilmFrame frame, const film::FilmEncoder::Slot& slot);
  // Behind the last; `duration` is how long that one is shown, 0: as long as the one before it.
  void finish(std::int64_t duration);

  std::uint64_t frames() const { return frames_; }
  std::uint64_t damaged() const { return damaged_; }
  std::uint64_t retimed() const { return retimed_; }
  const std::string& encoder() const { return encoder_name_; }
  double seconds_computed() const { return encoder_.seconds_computed(); }

 private:
  void send_last(std::int64_t duration);
  void end_piece(const FilmFrame* next);

  void opened(const film::Encoded& encoded);
  void packet(film::EncodedPacket packet);
  void ended();

  const Segments& segments_;
  struct Last {
    FilmFrame frame;
    film::FilmEncoder::Slot slot;
  };
  std::optional<Last> last_;  // not sent yet: how long it is shown is known with the next one
  std::int64_t last_duration_ = 0;
  Note note_;
  std::uint64_t frames_ = 0, damaged_ = 0, retimed_ = 0;

  std::mutex mutex_;
  struct Begun {
    std::uint64_t piece = 0;
    std::map<std::int64_t, std::int64_t> durations{};  // of pictures whose packets have not come, by their times
    std::string note{};
  };
  std::deque<Begun> begun_;  // pieces that have not ended

  // Of the encoder's thread.
  std::unique_ptr<film::PacketFileWriter> file_;
  film::Encoded encoded_;
  std::string encoder_name_;

  film::FilmEncoder encoder_;  // ends before all that it speaks to
};

}  // namespace millrace::video
