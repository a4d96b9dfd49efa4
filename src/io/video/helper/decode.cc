// Decodes the frames of one stream in display order.
#include <vector>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

class Decoding {
 public:
  Decoding(Channel& channel, int fd, const Json& what)
      : channel_(channel),
        input_(fd),
        stream_(stream_of(what)),
        decoder_(open_decoder(*input_->streams[stream_], what.at("threads").get<int>())),
        slot_bytes_(what.at("slot_bytes").get<std::size_t>()) {
    for (unsigned i = 0; i < input_->nb_streams; ++i)
      if (static_cast<int>(i) != stream_) input_->streams[i]->discard = AVDISCARD_ALL;
    for (std::uint32_t k = channel_.slots(slot_bytes_); k > 0; --k) free_.push_back(k - 1);
    const auto from = what.value("from", kNoTime);
    if (from != kNoTime)
      check(av_seek_frame(input_.get(), stream_, from, AVSEEK_FLAG_BACKWARD),
            "seeking to the first requested frame failed");
  }

  void run() {
    const Packet packet = make_packet();
    while (input_.next(*packet)) {
      if (packet->stream_index == stream_) give(packet.get());
      av_packet_unref(packet.get());
    }
    give(nullptr);
    Message message;
    message.kind = MessageKind::end;
    message.errors = errors_ + input_.skipped_packets();
    channel_.send(message);
  }

 private:
  int stream_of(const Json& what) const {
    const int stream = what.at("stream").get<int>();
    if (stream < 0 || stream >= static_cast<int>(input_->nb_streams)) fail("it has no such stream", 0);
    return stream;
  }

  // Sends a packet to the decoder, or null at the end. B-frames delay the output: the last frames come only after null.
  void give(const AVPacket* packet) {
    const int sent = avcodec_send_packet(decoder_.get(), packet);
    if (sent < 0 && sent != AVERROR_EOF) ++errors_;
    // At the end, the decoder may have more frames after one that fails.
    constexpr int kMaxErrorsAtEnd = 1000;
    for (int failed = 0; failed < (packet == nullptr ? kMaxErrorsAtEnd : 1);) {
      const int error = avcodec_receive_frame(decoder_.get(), frame_.get());
      if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) return;
      if (error < 0) {
        ++errors_;
        ++failed;
        continue;
      }
      send();
    }
  }

  void send() {
    Message message;
    message.kind = MessageKind::frame;
    message.shape = shape_of(*frame_);
    message.pts = frame_->best_effort_timestamp == AV_NOPTS_VALUE ? kNoTime : frame_->best_effort_timestamp;
    message.duration = duration_of(*frame_);
    message.errors = errors_ + input_.skipped_packets();
    message.damaged = frame_->decode_error_flags != 0 || (frame_->flags & AV_FRAME_FLAG_CORRUPT) != 0 ? 1 : 0;
    // A frame that is larger than a slot is sent without pixels; the program reports it.
    if (layout_of(message.shape).bytes <= slot_bytes_) {
      message.slot = take_slot();
      copy_pixels(*frame_, message.shape, channel_.slot(message.slot, slot_bytes_));
    }
    av_frame_unref(frame_.get());
    channel_.send(message);
  }

  std::uint32_t take_slot() {
    while (free_.empty() || Channel::has_message()) {
      channel_.receive_or_exit(incoming_);
      if (incoming_.message.kind == MessageKind::slot) free_.push_back(incoming_.message.slot);
    }
    const std::uint32_t out = free_.back();
    free_.pop_back();
    return out;
  }

  Channel& channel_;
  Input input_;
  const int stream_;
  const CodecContext decoder_;
  const std::size_t slot_bytes_;
  const Frame frame_ = make_frame();
  std::vector<std::uint32_t> free_;
  Channel::ReceivedMessage incoming_;
  std::uint64_t errors_ = 0;
};

}  // namespace

void decode(Channel& channel, int fd, const Json& what) { Decoding(channel, fd, what).run(); }

}  // namespace millrace::video_file
