// Input: a video, packets that replace its frames, and the name of a container.
// Output: the bytes of a new video: these packets, and all other streams, chapters and metadata unchanged.
// Never: writes a file itself; leaves a stream out without reporting it before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/video/video_encoder.h"
#include "src/io/video/video_file.h"

namespace millrace::video_file {

class VideoMuxer {
 public:
  // `container` is FFmpeg's name: "mp4", "matroska"; `codec` is that of the new frames. Throws Failure(unsupported)
  // where the container is missing, or cannot hold that codec.
  VideoMuxer(const VideoFile& film, const std::string& container, const std::string& codec, Bytes memory,
             const std::function<bool()>& cancelled);

  // A stream that the container cannot hold.
  struct DroppedStream {
    StreamInfo stream;
    std::string why;
  };
  const std::vector<DroppedStream>& dropped_streams() const { return dropped_streams_; }
  // Describes it: "stream 2 (subtitle, mov_text, eng) is not copied to the output: ...".
  static std::string words_of(const DroppedStream& one);

  struct TimedPacket {
    EncodedPacket packet;
    std::int64_t dts = 0;
  };
  // The range of time that is copied, in units of the video stream. With a start, all times are relative to it.
  struct TimeRange {
    std::optional<std::int64_t> start, end;
  };
  // Writes the video. `writer` is stored as the program that made it. `next` returns packets in decoding order. `write`
  // gets bytes and their offset, not always in order. Returns how many copied packets had a time that the container
  // does not accept, and were moved.
  std::uint64_t run(const StreamHeaders& encoded, const FrameShape& shape, const TimeRange& cut,
                    const std::string& writer, const std::function<std::optional<TimedPacket>()>& next,
                    const std::function<void(std::uint64_t offset, std::span<const std::uint8_t> bytes)>& write);

 private:
  const VideoFile video_;
  VideoHelper process_;
  std::vector<DroppedStream> dropped_streams_;
};

// Returns "mp4" for "film.mp4" or "FILM.M4V"; empty for a file name ending that this program does not write.
std::string container_of(const std::string& path);
// Returns the endings for messages: ".mp4, .mov, ...".
std::string known_endings();

}  // namespace millrace::video_file
