// Input: a video, the length of a shard, and the shard to begin with.
// Output: the frames of that shard and of the following ones, in display order, each with its shard number. They end
//   before the first shard that is not wanted.
// Never: omits a frame between the begin and the end; continues after an earlier shard unless that shard's last frame
//   was decoded again as before.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "src/io/video/film_reader.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

// Decoded frame and its position.
struct FilmFrame {
  film::Picture picture;
  std::int64_t pts = 0;  // its time; if it has none, or one before its predecessor's, a moment after the predecessor
  bool retimed = false;
  std::uint64_t errors = 0;  // packets since the previous frame that could not be decoded
  std::uint64_t piece = 0;
  bool warm = false;  // belongs to an earlier shard; repeated only to smooth the masks of this one
};

class Frames {
 public:
  using Reader = std::function<std::unique_ptr<film::FilmReader>(std::optional<std::int64_t> from)>;

  struct How {
    double seconds_a_piece = 10;
    std::size_t warm = 0;                    // number of frames before a shard that are repeated with it
    std::optional<std::int64_t> start, end;  // time of the first frame, and time that all frames precede
  };
  // Called for each shard after the first, when its first frame is decoded.
  using Wanted = std::function<bool(std::uint64_t piece)>;
  Frames(const film::FilmFile& film, const How& how, const Task& task, Wanted wanted, Reader open);

  std::optional<FilmFrame> next();

  // First frame after the end, in a shard that is not wanted. Empty if the video ends there.
  struct Beyond {
    std::int64_t pts = 0;
    std::uint64_t piece = 0;
  };
  const std::optional<Beyond>& beyond() const { return beyond_; }
  // Returns the number of packets after the last frame that could not be decoded.
  std::uint64_t errors_behind() const { return errors_behind_; }
  // Returns the last frames before the first one that next() returns. They are as many as a shard needs to begin, and
  // at least one; the first shard has none.
  const std::vector<Note::Seen>& before() const { return seen_; }
  // Returns the start time of the first shard; nothing if there is no frame in the given range.
  std::optional<std::int64_t> first() const { return first_; }

 private:
  std::optional<FilmFrame> read();
  void open(std::optional<std::int64_t> from);
  void go_to(std::int64_t pts, const Task& task);
  bool skip_to(std::int64_t pts, const Task& task, bool front, bool& differs);
  bool give(FilmFrame frame);

  const film::FilmFile& film_;
  const How how_;
  const Wanted wanted_;
  const Reader open_;
  const std::uint64_t begins_with_;
  const std::int64_t units_;           // length of a shard
  std::optional<std::int64_t> first_;  // start time of the first shard
  std::unique_ptr<film::FilmReader> reader_;
  std::optional<FilmFrame> unread_;  // first frame, decoded while seeking
  std::deque<FilmFrame> ahead_;      // next frames to return
  std::deque<FilmFrame> recent_;     // last frames, with which the next shard begins
  std::optional<std::uint64_t> piece_;
  std::optional<Beyond> beyond_;
  std::vector<Note::Seen> seen_;
  std::optional<std::int64_t> before_;            // time of the last frame that was read
  std::int64_t step_ = 1;                         // duration of that frame
  std::uint64_t errors_ = 0, errors_behind_ = 0;  // before the last frame; after it
};

// Returns a hash of the frame's samples; 0 if it is damaged.
std::uint64_t hash_of(const film::Picture& picture);
// Formats a time as "0:01:02.500".
std::string time_text(double seconds);

}  // namespace millrace::video
