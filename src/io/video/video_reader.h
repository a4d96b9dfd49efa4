// Input: a video, and the time from which to read it.
// Output: its frames one by one in display order, while the next ones are being decoded.
// Never: decodes further ahead than it has slots; returns the pixels of a frame that is too large for a slot.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/io/video/video_file.h"
#include "src/io/video/video_helper.h"

namespace millrace::video_file {

// A frame in a slot. The slot returns to the decoder with the frame's last owner.
struct VideoFrame {
  std::shared_ptr<const std::uint8_t> pixels;  // laid out as by layout_of(shape); null where the slot is too small
  FrameShape shape;
  std::int64_t pts = kNoTime, duration = 0;
  bool damaged = false;
  std::uint64_t errors = 0;  // packets of this reader before this frame that could not be decoded
};

class VideoReader {
 public:
  // Holds up to `slots` frames of the shape of the video's first frame. With `from`, the decoder begins where the
  // container finds that time, which may be later; callers check the time of the first frame.
  VideoReader(const VideoFile& film, std::uint32_t slots, int threads, Bytes memory, std::optional<std::int64_t> from,
              const std::function<bool()>& cancelled);

  // Returns the next frame; nothing after the last one. Called on one thread at a time; waits for a frame, or for a
  // slot that is in use.
  std::optional<VideoFrame> next();
  // Number of packets that could not be decoded; complete after the last frame.
  std::uint64_t errors() const { return errors_; }
  double cpu_seconds() const { return process_->cpu_seconds(); }

 private:
  const std::size_t slot_bytes_;
  const std::uint32_t slots_;
  std::shared_ptr<std::vector<std::atomic<bool>>> ours_;  // slots that are in use in this process
  std::shared_ptr<VideoHelper> process_;
  VideoHelper::ReceivedMessage incoming_;
  bool ended_ = false;
  std::uint64_t errors_ = 0;
};

}  // namespace millrace::video_file
