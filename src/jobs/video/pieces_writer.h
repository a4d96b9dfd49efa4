// Input: pictures of the new film in their order, each with the piece that it belongs to.
// Output: the pieces, each whole under its name.
// Never: gives a piece its name before its last packet is on the disk.
#pragma once

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

// A picture on its way into a piece.
struct Made {
  FilmFrame frame;
  film::PictureEncoder::Slot slot;
  bool reused = false, by_fast_model = false;
};

class PiecesWriter {
 public:
  // `make` gives the encoder, once it is known who listens to it. So many pictures before a piece are needed to begin
  // it.
  using Make = std::function<std::unique_ptr<film::PictureEncoder>(film::PictureEncoder::Listener)>;
  // What comes right before its first picture, and where pieces begin: as Frames has them. `maker` as in Note.
  PiecesWriter(Segments& segments, std::size_t warm, std::string maker, const Frames& frames, const Make& make);

  film::PictureEncoder::Slot room() { return encoder_->room(); }
  // One thread at a time.
  void add(Made made);
  // Behind the last; `duration` is how long that one is shown where the film ends with it, 0: as long as the one before
  // it.
  void finish(std::int64_t duration);

  // Of all pieces that this run has made.
  const Counts& sum() const { return sum_; }
  const std::string& encoder() const { return encoder_name_; }
  double seconds_computed() const { return encoder_->seconds_computed(); }

 private:
  void send_last(std::int64_t duration);
  void end_piece(const std::optional<Frames::Beyond>& next);

  void opened(const film::Encoded& encoded);
  void packet(film::EncodedPacket packet);
  void ended();

  Segments& segments_;
  const std::size_t warm_;
  const std::string maker_;
  const Frames& frames_;
  std::optional<Made> last_;  // not sent yet: how long it is shown is known with the next one
  std::int64_t last_duration_ = 0;
  std::deque<FilmFrame> recent_;               // the last ones
  std::vector<Note::Seen> seen_, first_seen_;  // before the piece; before the first one
  Note note_;
  Counts sum_;

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

  std::unique_ptr<film::PictureEncoder> encoder_;  // ends before all that it speaks to
};

}  // namespace millrace::video
