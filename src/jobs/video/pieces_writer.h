// Input: frames of the new video in their order, each with its shard.
// Output: the shards, each complete under its name.
// Never: gives a shard its name before its last packet is on the disk.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "src/base/mutex.h"
#include "src/io/video/film_encoder.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

// Frame on its way into a shard.
struct Made {
  FilmFrame frame;
  film::PictureEncoder::Slot slot;
  bool reused = false, by_fast_model = false;
};

class PiecesWriter {
 public:
  // Creates the encoder for a listener.
  using Make = std::function<std::unique_ptr<film::PictureEncoder>(film::PictureEncoder::Listener)>;
  // `warm` is the number of earlier frames with which a shard begins. The frames before the first one, and the start of
  // the first shard, are those of `frames`. `maker` is as in Note.
  PiecesWriter(Segments& segments, std::size_t warm, std::string maker, const Frames& frames, const Make& make);

  film::PictureEncoder::Slot room() { return encoder_->room(); }
  // Adds a frame. Called on one thread at a time.
  void add(Made made);
  // Ends the last shard. `duration` is that of the last frame if the video ends with it; 0 repeats the duration of the
  // frame before.
  void finish(std::int64_t duration);

  // Returns the counts over all shards that this run has made.
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
  std::optional<Made> last_;  // not sent yet: its duration is known when the next one arrives
  std::int64_t last_duration_ = 0;
  std::deque<FilmFrame> recent_;               // last frames that were sent
  std::vector<Note::Seen> seen_, first_seen_;  // frames before the shard; before the first shard
  Note note_;
  Counts sum_;

  Mutex mutex_;
  struct Begun {
    std::uint64_t piece = 0;
    std::map<std::int64_t, std::int64_t> durations{};  // durations by time, of frames whose packets are still to come
    std::string note{};
  };
  std::deque<Begun> begun_ MILLRACE_GUARDED_BY(mutex_);  // shards that have not ended

  // Used by the encoder's thread only.
  std::unique_ptr<film::PacketFileWriter> file_;
  film::Encoded encoded_;
  std::string encoder_name_;

  std::unique_ptr<film::PictureEncoder> encoder_;  // last member: it ends before the members that its callbacks use
};

}  // namespace millrace::video
