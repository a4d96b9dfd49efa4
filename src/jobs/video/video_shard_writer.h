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
#include "src/io/video/video_encoder.h"
#include "src/jobs/video/frames.h"
#include "src/jobs/video/shard_folder.h"

namespace millrace::video {

// Frame on its way into a shard.
struct ComposedFrame {
  ShardFrame frame;
  video_file::FrameEncoder::Slot slot;
  bool reused = false, by_fast_model = false;
};

class VideoShardWriter {
 public:
  // Creates the encoder for a listener.
  using Make = std::function<std::unique_ptr<video_file::FrameEncoder>(video_file::FrameEncoder::Listener)>;
  // `warmup` is the number of earlier frames with which a shard begins. The frames before the first one, and the start
  // of the first shard, are those of `frames`. `runtime_and_cpu` is as in ShardMetadata.
  VideoShardWriter(ShardFolder& shards, std::size_t warmup, std::string runtime_and_cpu, const Frames& frames,
                   const Make& make);

  video_file::FrameEncoder::Slot wait_for_slot() { return encoder_->wait_for_slot(); }
  // Adds a frame. Called on one thread at a time.
  void add(ComposedFrame made);
  // Ends the last shard. `duration` is that of the last frame if the video ends with it; 0 repeats the duration of the
  // frame before.
  void finish(std::int64_t duration);

  // Returns the counts over all shards that this run has made.
  const FrameCounts& sum() const { return sum_; }
  const std::string& encoder() const { return encoder_name_; }
  double cpu_seconds() const { return encoder_->cpu_seconds(); }

 private:
  void send_last(std::int64_t duration);
  void end_shard(const std::optional<Frames::FrameAfterEnd>& next);

  void opened(const video_file::StreamHeaders& encoded);
  void packet(video_file::EncodedPacket packet);
  void ended();

  ShardFolder& shards_;
  const std::size_t warmup_;
  const std::string runtime_and_cpu_;
  const Frames& frames_;
  std::optional<ComposedFrame> last_;  // not sent yet: its duration is known when the next one arrives
  std::int64_t last_duration_ = 0;
  std::deque<ShardFrame> recent_;                            // last frames that were sent
  std::vector<ShardMetadata::FrameHash> seen_, first_seen_;  // frames before the shard; before the first shard
  ShardMetadata note_;
  FrameCounts sum_;

  Mutex mutex_;
  struct OpenShard {
    std::uint64_t shard = 0;
    std::map<std::int64_t, std::int64_t> durations{};  // durations by time, of frames whose packets are still to come
    std::string note{};
  };
  std::deque<OpenShard> open_shards_ MILLRACE_GUARDED_BY(mutex_);  // shards that have not ended

  // Used by the encoder's thread only.
  std::unique_ptr<video_file::PacketFileWriter> file_;
  video_file::StreamHeaders encoded_;
  std::string encoder_name_;

  std::unique_ptr<video_file::FrameEncoder> encoder_;  // last member: it ends before the members that its callbacks use
};

}  // namespace millrace::video
