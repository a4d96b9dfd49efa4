// Input: the frames of a video in display order, shard by shard.
// Output: the packets of each shard as they are made, by an encoder that knows nothing of the other shards.
// Never: lets the number of the program's threads, or other work in progress, change a byte of the packets.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/video/video_file.h"
#include "src/io/video/video_helper.h"

namespace millrace::video_file {

struct EncoderOptions {
  // An encoder by its name. The first candidate is used that exists and accepts such frames.
  struct Candidate {
    std::string name;
    std::vector<std::pair<std::string, std::string>> options;
  };
  std::vector<Candidate> candidates;
  FrameShape shape;
  Rational time_base, rate;
  int threads = 2;  // threads of the encoder; their number affects its output
};

// Data about a stream that decoders need before its first packet.
struct StreamHeaders {
  std::string encoder, codec, pixels;
  std::string description;  // JSON, as the muxer expects it
  std::vector<std::uint8_t> extradata;
};

struct EncodedPacket {
  std::int64_t pts = 0, duration = 0;
  bool key = false;
  std::uint32_t side_bytes = 0;  // size of the side data at the end of the data
  std::vector<std::uint8_t> data;
};

// Encodes frames to packets.
class FrameEncoder {
 public:
  // Called in this order for each shard: opened, packets, ended; perhaps on a thread of the encoder. An exception
  // that it throws is thrown by the encoder's next function.
  struct Listener {
    std::function<void(const StreamHeaders&)> opened;
    std::function<void(EncodedPacket)> packet;
    std::function<void()> ended;
  };
  // Buffer for a frame, whose samples are laid out as by layout_of().
  struct Slot {
    std::uint8_t* pixels = nullptr;
    std::uint32_t number = 0;
  };

  FrameEncoder() = default;
  virtual ~FrameEncoder() = default;
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;

  // Waits for a free slot. Any thread may call it.
  virtual Slot wait_for_slot() = 0;
  // The following functions are called on one thread at a time.
  virtual void begin() = 0;
  virtual void send(const Slot& slot, std::int64_t pts, std::int64_t duration) = 0;
  virtual void drain() = 0;
  // Called after the last drain(): waits until the listener has received everything.
  virtual void finish() = 0;
  // CPU time of its work in other processes.
  virtual double cpu_seconds() const { return 0; }
};

class VideoEncoder : public FrameEncoder {
 public:
  VideoEncoder(const EncoderOptions& options, const std::string& subject, std::uint32_t slots, Bytes memory,
               Listener listener, const std::function<bool()>& cancelled);
  // Drops all work in progress, where finish() was not called.
  ~VideoEncoder() override;

  Slot wait_for_slot() override;
  void begin() override;
  void send(const Slot& slot, std::int64_t pts, std::int64_t duration) override;
  void drain() override;
  void finish() override;
  double cpu_seconds() const override { return process_->cpu_seconds(); }

 private:
  void listen();
  void take(VideoHelper::ReceivedMessage& incoming, bool& opened);
  void throw_if_failed();

  const EncoderOptions options_;
  const std::size_t slot_bytes_;
  const std::unique_ptr<VideoHelper> process_;
  const Listener listener_;
  Mutex mutex_;
  Condition changed_;
  std::vector<std::uint32_t> free_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<bool> lent_ MILLRACE_GUARDED_BY(mutex_);  // slots that the helper holds
  std::uint64_t begun_ MILLRACE_GUARDED_BY(mutex_) = 0, ended_ MILLRACE_GUARDED_BY(mutex_) = 0;
  bool no_more_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::exception_ptr failed_ MILLRACE_GUARDED_BY(mutex_);
  std::thread thread_;
};

// Throws Failure(unsupported) where no candidate can start. Called before the work.
void check_encoder(const EncoderOptions& options, const std::string& subject, Bytes memory,
                   const std::function<bool()>& cancelled);

}  // namespace millrace::video_file
