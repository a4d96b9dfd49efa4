#include "src/io/video/video_encoder.h"

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::video_file {
namespace {

Json json_of(const FrameShape& shape) {
  return {{"width", shape.width},
          {"height", shape.height},
          {"kind", static_cast<std::uint32_t>(shape.kind)},
          {"depth", shape.depth},
          {"log2_cw", shape.log2_cw},
          {"log2_ch", shape.log2_ch},
          {"alpha", shape.alpha},
          {"interlaced", shape.interlaced},
          {"aspect", {shape.aspect_num, shape.aspect_den}},
          {"range", static_cast<std::uint32_t>(shape.colors.range)},
          {"matrix", shape.colors.matrix},
          {"primaries", shape.colors.primaries},
          {"transfer", shape.colors.transfer},
          {"siting", shape.colors.siting}};
}

Json json_of(const EncoderOptions& options, Bytes memory) {
  Json encoders = Json::array();
  for (const EncoderOptions::Candidate& each : options.candidates) {
    Json given = Json::object();
    for (const auto& [key, value] : each.options) given[key] = value;
    encoders.push_back({{"name", each.name}, {"options", given}});
  }
  return {{"encoders", encoders},
          {"shape", json_of(options.shape)},
          {"time_base", {options.time_base.num, options.time_base.den}},
          {"rate", {options.rate.num, options.rate.den}},
          {"threads", options.threads},
          {"memory", memory.count}};
}

}  // namespace

void check_encoder(const EncoderOptions& options, const std::string& subject, Bytes memory,
                   const std::function<bool()>& cancelled) {
  VideoHelper process(subject, 0, memory, cancelled);
  Message message;
  message.kind = MessageKind::encode;
  Json what = json_of(options, memory);
  what["only_open"] = true;
  process.send(message, what.dump());
  VideoHelper::ReceivedMessage incoming;
  do {
    process.receive(incoming, kMaxData);
  } while (incoming.message.kind == MessageKind::opened);
}

VideoEncoder::VideoEncoder(const EncoderOptions& options, const std::string& subject, std::uint32_t slots, Bytes memory,
                           Listener listener, const std::function<bool()>& cancelled)
    : options_(options),
      slot_bytes_(layout_of(options.shape).bytes),
      process_(std::make_unique<VideoHelper>(subject, slot_bytes_ * slots, memory, cancelled)),
      listener_(std::move(listener)) {
  for (std::uint32_t k = slots; k > 0; --k) free_.push_back(k - 1);
  lent_.resize(slots);
  thread_ = std::thread([this] { listen(); });
}

VideoEncoder::~VideoEncoder() {
  {
    const MutexLock lock(mutex_);
    no_more_ = true;
  }
  changed_.notify_all();
  process_->close();
  thread_.join();
}

// A helper without a task sends nothing for any length of time, so this waits only for shards that were begun.
void VideoEncoder::listen() {
  VideoHelper::ReceivedMessage incoming;
  bool opened = false;
  try {
    while (true) {
      {
        MutexLock lock(mutex_);
        while (!no_more_ && begun_ <= ended_) changed_.wait(lock);
        if (no_more_ && begun_ == ended_) return;
      }
      process_->receive(incoming, kMaxData);
      take(incoming, opened);
    }
  } catch (...) {
    const MutexLock lock(mutex_);
    failed_ = std::current_exception();
    changed_.notify_all();
  }
}

// Accepts messages in this order only: opened, packets, ended. Slots may come in between.
void VideoEncoder::take(VideoHelper::ReceivedMessage& incoming, bool& opened) {
  const Message& received = incoming.message;
  const auto refuse = [&] {
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", process_->subject(), "");
  };
  switch (received.kind) {
    case MessageKind::opened: {
      const Json about = Json::parse_or_null(incoming.text);
      StreamHeaders encoded;
      for (const auto& [key, to] : {std::pair<const char*, std::string*>{"encoder", &encoded.encoder},
                                    {"codec", &encoded.codec},
                                    {"pixels", &encoded.pixels}}) {
        if (!about.is_object() || !about.contains(key) || !about.at(key).is_string()) refuse();
        *to = escape_unprintable(about.at(key).get<std::string>());
      }
      if (opened) refuse();
      opened = true;
      encoded.description = incoming.text;
      encoded.extradata = incoming.data;
      return listener_.opened(encoded);
    }
    case MessageKind::packet:
      if (!opened || received.side_bytes > incoming.data.size()) refuse();
      listener_.packet(
          {received.pts, received.duration, received.key != 0, received.side_bytes, std::move(incoming.data)});
      incoming.data = {};
      return;
    case MessageKind::slot: {
      const MutexLock lock(mutex_);
      if (received.slot >= lent_.size() || !lent_[received.slot]) refuse();
      lent_[received.slot] = false;
      free_.push_back(received.slot);
      changed_.notify_all();
      return;
    }
    case MessageKind::end: {
      if (!opened) refuse();
      opened = false;
      listener_.ended();
      const MutexLock lock(mutex_);
      ++ended_;
      changed_.notify_all();
      return;
    }
    default:
      refuse();
  }
}

void VideoEncoder::throw_if_failed() {
  const MutexLock lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
}

VideoEncoder::Slot VideoEncoder::wait_for_slot() {
  MutexLock lock(mutex_);
  while (!failed_ && free_.empty()) changed_.wait(lock);
  if (failed_) std::rethrow_exception(failed_);
  Slot out;
  out.number = free_.back();
  out.pixels = process_->shared() + out.number * slot_bytes_;
  free_.pop_back();
  return out;
}

void VideoEncoder::begin() {
  throw_if_failed();
  Message message;
  message.kind = MessageKind::encode;
  process_->send(message, json_of(options_, process_->memory()).dump());
  const MutexLock lock(mutex_);
  ++begun_;
  changed_.notify_all();
}

void VideoEncoder::send(const Slot& slot, std::int64_t pts, std::int64_t duration) {
  throw_if_failed();
  {
    const MutexLock lock(mutex_);
    lent_[slot.number] = true;
  }
  Message message;
  message.kind = MessageKind::frame;
  message.slot = slot.number;
  message.pts = pts;
  message.duration = duration;
  process_->send(message);
}

void VideoEncoder::drain() {
  throw_if_failed();
  Message message;
  message.kind = MessageKind::drain;
  process_->send(message);
}

void VideoEncoder::finish() {
  MutexLock lock(mutex_);
  while (!failed_ && begun_ != ended_) changed_.wait(lock);
  if (failed_) std::rethrow_exception(failed_);
}

}  // namespace millrace::video_file
