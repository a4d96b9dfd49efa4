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

#include "src/io/video/video_reader.h"
#include "src/jobs/video/shard_folder.h"

namespace millrace::video {

// Decoded frame and its position.
struct ShardFrame {
  video_file::VideoFrame picture;
  std::int64_t pts = 0;  // its time; if it has none, or one before its predecessor's, a moment after the predecessor
  bool retimed = false;
  std::uint64_t errors = 0;  // packets since the previous frame that could not be decoded
  std::uint64_t shard = 0;
  bool warmup = false;  // belongs to an earlier shard; repeated only to smooth the masks of this one
};

class Frames {
 public:
  using OpenReader = std::function<std::unique_ptr<video_file::VideoReader>(std::optional<std::int64_t> from)>;

  struct Parameters {
    double seconds_per_shard = 10;
    std::size_t warmup = 0;                  // number of frames before a shard that are repeated with it
    std::optional<std::int64_t> start, end;  // time of the first frame, and time that all frames precede
  };
  // Called for each shard after the first, when its first frame is decoded.
  using ClaimShard = std::function<bool(std::uint64_t shard)>;
  Frames(const video_file::VideoFile& film, const Parameters& how, const PendingShard& pending, ClaimShard wanted,
         OpenReader open);

  std::optional<ShardFrame> next();

  // First frame after the end, in a shard that is not wanted. Empty if the video ends there.
  struct FrameAfterEnd {
    std::int64_t pts = 0;
    std::uint64_t shard = 0;
  };
  const std::optional<FrameAfterEnd>& frame_after_end() const { return frame_after_end_; }
  // Returns the number of packets after the last frame that could not be decoded.
  std::uint64_t errors_after_end() const { return errors_after_end_; }
  // Returns the last frames before the first one that next() returns. They are as many as a shard needs to begin, and
  // at least one; the first shard has none.
  const std::vector<ShardMetadata::FrameHash>& before() const { return seen_; }
  // Returns the start time of the first shard; nothing if there is no frame in the given range.
  std::optional<std::int64_t> first() const { return first_; }

 private:
  std::optional<ShardFrame> read();
  void open(std::optional<std::int64_t> from);
  void seek_to(std::int64_t pts, const PendingShard& pending);
  bool skip_to(std::int64_t pts, const PendingShard& pending, bool front, bool& differs);
  bool queue_frame(ShardFrame frame);

  const video_file::VideoFile& video_;
  const Parameters how_;
  const ClaimShard claim_shard_;
  const OpenReader open_;
  const std::uint64_t begins_with_;
  const std::int64_t units_;           // length of a shard
  std::optional<std::int64_t> first_;  // start time of the first shard
  std::unique_ptr<video_file::VideoReader> reader_;
  std::optional<ShardFrame> unread_;  // first frame, decoded while seeking
  std::deque<ShardFrame> ahead_;      // next frames to return
  std::deque<ShardFrame> recent_;     // last frames, with which the next shard begins
  std::optional<std::uint64_t> shard_;
  std::optional<FrameAfterEnd> frame_after_end_;
  std::vector<ShardMetadata::FrameHash> seen_;
  std::optional<std::int64_t> before_;               // time of the last frame that was read
  std::int64_t step_ = 1;                            // duration of that frame
  std::uint64_t errors_ = 0, errors_after_end_ = 0;  // before the last frame; after it
};

// Returns a hash of the frame's samples; 0 if it is damaged.
std::uint64_t hash_of(const video_file::VideoFrame& picture);
// Formats a time as "0:01:02.500".
std::string format_time(double seconds);

}  // namespace millrace::video
