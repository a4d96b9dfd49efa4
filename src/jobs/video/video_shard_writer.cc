#include "src/jobs/video/video_shard_writer.h"

#include <algorithm>

namespace millrace::video {

VideoShardWriter::VideoShardWriter(ShardFolder& shards, std::size_t warmup, std::string runtime_and_cpu,
                                   const Frames& frames, const Make& make)
    : shards_(shards),
      warmup_(warmup),
      runtime_and_cpu_(std::move(runtime_and_cpu)),
      frames_(frames),
      encoder_(make({[this](const video_file::StreamHeaders& encoded) { opened(encoded); },
                     [this](video_file::EncodedPacket one) { packet(std::move(one)); }, [this] { ended(); }})) {}

void VideoShardWriter::add(ComposedFrame made) {
  const ShardFrame& frame = made.frame;
  const bool begins = !last_ || last_->frame.shard != frame.shard;
  if (!last_) {
    seen_ = first_seen_ = frames_.before();
    if (!seen_.empty()) last_duration_ = frame.pts - seen_.back().pts;
  }
  if (last_) send_last(frame.pts - last_->frame.pts);
  if (begins) {
    if (last_) end_shard(Frames::FrameAfterEnd{frame.pts, frame.shard});
    note_ = {};
    note_.before = seen_;
    note_.runtime_and_cpu = runtime_and_cpu_;
    {
      const MutexLock lock(mutex_);
      open_shards_.emplace_back().shard = frame.shard;
    }
    encoder_->begin();
  }
  last_ = std::move(made);
}

void VideoShardWriter::send_last(std::int64_t duration) {
  const ShardFrame& frame = last_->frame;
  {
    const MutexLock lock(mutex_);
    open_shards_.back().durations[frame.pts] = duration;
  }
  encoder_->send(last_->slot, frame.pts, duration);
  last_duration_ = duration;
  recent_.push_back(frame);
  if (recent_.size() > std::max<std::size_t>(warmup_, 1)) recent_.pop_front();
  FrameCounts one;
  one.frames = 1;
  one.errors = frame.errors;
  one.damaged = frame.picture.damaged ? 1 : 0;
  one.retimed = frame.retimed ? 1 : 0;
  one.reused = last_->reused ? 1 : 0;
  one.by_fast_model = last_->by_fast_model ? 1 : 0;
  note_.counts += one;
  sum_ += one;
}

void VideoShardWriter::end_shard(const std::optional<Frames::FrameAfterEnd>& next) {
  seen_ = first_seen_;
  for (const ShardFrame& each : recent_) seen_.push_back({each.pts, hash_of(each.picture)});
  const std::size_t kept = std::max<std::size_t>(warmup_, 1);
  if (seen_.size() > kept) seen_.erase(seen_.begin(), seen_.end() - static_cast<std::ptrdiff_t>(kept));
  note_.last = seen_;
  note_.last_duration = last_duration_;
  note_.first = frames_.first().value();
  if (next) {
    note_.next = next->shard;
    note_.next_pts = next->pts;
  } else {
    note_.counts.errors += frames_.errors_after_end();
    sum_.errors += frames_.errors_after_end();
  }
  {
    const MutexLock lock(mutex_);
    open_shards_.back().note = json_of(note_);
  }
  encoder_->drain();
}

void VideoShardWriter::finish(std::int64_t duration) {
  if (last_) {
    const auto& frame_after_end = frames_.frame_after_end();
    send_last(frame_after_end ? frame_after_end->pts - last_->frame.pts
              : duration > 0  ? duration
                              : std::max<std::int64_t>(last_duration_, 1));
    end_shard(frame_after_end);
    last_.reset();
  }
  encoder_->finish();
}

void VideoShardWriter::opened(const video_file::StreamHeaders& encoded) {
  encoded_ = encoded;
  encoder_name_ = encoded.encoder;
  std::uint64_t shard = 0;
  {
    const MutexLock lock(mutex_);
    shard = open_shards_.front().shard;
  }
  file_ = std::make_unique<video_file::PacketFileWriter>(shards_.path(shard));
}

void VideoShardWriter::packet(video_file::EncodedPacket packet) {
  {
    const MutexLock lock(mutex_);
    auto& durations = open_shards_.front().durations;
    const auto found = durations.find(packet.pts);
    if (found == durations.end())
      throw Failure(ErrorCode::internal, "the encoder changed the time of a frame",
                    shards_.path(open_shards_.front().shard), "");
    packet.duration = found->second;
    durations.erase(found);
  }
  file_->append(packet);
}

void VideoShardWriter::ended() {
  std::string note;
  std::uint64_t shard = 0;
  {
    const MutexLock lock(mutex_);
    if (!open_shards_.front().durations.empty())
      throw Failure(ErrorCode::internal, "the encoder dropped frames", shards_.path(open_shards_.front().shard), "");
    note = std::move(open_shards_.front().note);
    shard = open_shards_.front().shard;
    open_shards_.pop_front();
  }
  file_->commit(encoded_, note);
  file_.reset();
  shards_.release_shard(shard);
}

}  // namespace millrace::video
