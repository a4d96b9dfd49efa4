#include "src/io/video/video_reader.h"

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::video_file {

VideoReader::VideoReader(const VideoFile& film, std::uint32_t slots, int threads, Bytes memory,
                         std::optional<std::int64_t> from, const std::function<bool()>& cancelled)
    : slot_bytes_(layout_of(film.shape).bytes),
      slots_(slots),
      ours_(std::make_shared<std::vector<std::atomic<bool>>>(slots)),
      process_(std::make_shared<VideoHelper>(film.path, slot_bytes_ * slots, memory, cancelled)) {
  const Json what = {{"stream", film.stream},
                     {"threads", threads},
                     {"slot_bytes", slot_bytes_},
                     {"from", from.value_or(kNoTime)},
                     {"memory", memory.count}};
  Message message;
  message.kind = MessageKind::decode;
  process_->send(message, what.dump(), nullptr, 0, film.file->get());
}

std::optional<VideoFrame> VideoReader::next() {
  if (ended_) return std::nullopt;
  process_->receive(incoming_);
  const Message& received = incoming_.message;
  if (received.kind == MessageKind::end) {
    ended_ = true;
    errors_ = received.errors;
    return std::nullopt;
  }
  if (received.kind != MessageKind::frame || !is_possible(received.shape) || received.slot >= slots_)
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", process_->subject(), "");
  VideoFrame out;
  out.shape = received.shape;
  out.pts = time_or_none(received.pts);
  out.duration = received.duration > 0 && received.duration < kMaxTime ? received.duration : 0;
  out.errors = received.errors;
  out.damaged = received.damaged != 0;
  if (layout_of(received.shape).bytes > slot_bytes_) return out;
  if ((*ours_)[received.slot].exchange(true))
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", process_->subject(), "");
  out.pixels = std::shared_ptr<const std::uint8_t>(
      process_->shared() + received.slot * slot_bytes_,
      [process = process_, ours = ours_, slot = received.slot](const std::uint8_t*) {
        (*ours)[slot] = false;
        Message back;
        back.kind = MessageKind::slot;
        back.slot = slot;
        process->send(back);
      });
  return out;
}

}  // namespace millrace::video_file
