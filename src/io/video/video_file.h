// Input: the path of a video.
// Output: facts about it, from its container and from its first frame; the file stays open.
// Never: decodes in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/io/file/directory_entry.h"
#include "src/io/video/frame.h"
#include "src/io/video/helper/protocol.h"

namespace millrace::video_file {

struct Rational {
  std::int64_t num = 0, den = 1;
  double value() const { return den == 0 ? 0 : static_cast<double>(num) / static_cast<double>(den); }
  friend bool operator==(const Rational&, const Rational&) = default;
};

struct StreamInfo {
  int index = 0;
  std::string type, codec, language;
  std::int64_t bit_rate = 0;  // bits per second on average; 0: unknown
};

// The video stream that a model is to process, with facts about its file.
struct VideoFile {
  std::string path;
  std::shared_ptr<const Descriptor> file;
  FileState state;

  std::string library;  // "FFmpeg 5.1.9"
  std::string format;   // "mov,mp4,m4a,3gp,3g2,mj2"
  std::string writer;   // program that wrote the file, as it states: VideoMuxer's `writer` if it was this program
  std::vector<StreamInfo> streams;
  std::uint64_t chapters = 0;

  int stream = 0;
  std::string codec;
  Rational time_base, rate;              // of that stream; rate 0: unknown
  std::optional<std::int64_t> duration;  // in units of the stream
  std::uint64_t frames = 0;              // about; 0: unknown
  std::vector<std::string> beside;       // data in the video stream that are no frames: "closed captions"
  std::string mastering, light;  // HDR metadata of the display, if the first frame has any: bytes in hexadecimal
  int rotation = 0;              // degrees clockwise until it stands upright; -1: not a right angle
  FrameShape shape;              // of its first frame, as it is stored
  std::int64_t first = kNoTime;  // time of the first frame; kNoTime: it has no frame

  // Time from which moments of the video are counted.
  std::int64_t begin() const { return first == kNoTime ? 0 : first; }
  double seconds(std::int64_t units) const { return static_cast<double>(units) * time_base.value(); }
};

// `stream` is the number of a stream, or -1 for the one that players show. Throws Failure(not_found, io); (bad_data)
// where the file is no known video, or has no video stream; (unsupported) where no decoder is available; (crashed,
// timed_out).
VideoFile open_video(const std::string& path, int stream, Bytes memory, const std::function<bool()>& cancelled);

}  // namespace millrace::video_file
