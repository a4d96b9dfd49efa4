// Input: FFmpeg's headers, which are C.
// Output: its objects with an owner; an open file in the form in which FFmpeg reads files.
// Never: opens a path, or any other file.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "src/io/video/frame.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::video_file {

template <auto Free>
struct FreeAddress {
  template <typename T>
  void operator()(T* one) const {
    Free(&one);
  }
};
using Frame = std::unique_ptr<AVFrame, FreeAddress<av_frame_free>>;
using Packet = std::unique_ptr<AVPacket, FreeAddress<av_packet_free>>;
using CodecContext = std::unique_ptr<AVCodecContext, FreeAddress<avcodec_free_context>>;
Frame make_frame();
Packet make_packet();

std::string words_of(int error);

// The file that is open under a descriptor. The descriptor's own position is not used.
class Input {
 public:
  // Detects the format and the streams. Throws FatalError.
  explicit Input(int fd);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  AVFormatContext* operator->() const { return format_; }
  AVFormatContext* get() const { return format_; }
  // Reads the next packet; false at the end, also where the file is truncated. Invalid data are skipped and counted.
  // Throws FatalError where the file could not be read, because the data then are not the video's.
  bool next(AVPacket& packet);
  std::uint64_t skipped_packets() const { return skipped_packets_; }

 private:
  static int read(void* self, std::uint8_t* to, int bytes);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  int fd_;
  std::int64_t at_ = 0, size_ = 0;
  int failed_ = 0;  // errno of a failed read
  std::uint64_t skipped_packets_ = 0;
  AVIOContext* io_ = nullptr;
  AVFormatContext* format_ = nullptr;
};

// Opens the decoder of a stream. Throws FatalError.
CodecContext open_decoder(const AVStream& stream, int threads);
// Returns the clockwise rotation in degrees after which the stream stands upright: 0, 90, 180 or 270; -1 for another
// angle.
int rotation_of(const AVStream& stream);
// Side data of a stream, of any type.
struct SideData {
  AVPacketSideDataType type;
  const std::uint8_t* data;
  std::size_t size;
};
std::vector<SideData> side_data_of(const AVStream& stream);
void add_side_data(AVStream& stream, const SideData& one);

// Returns the program's description of a decoded frame. Throws FatalError for an unknown pixel format.
FrameShape shape_of(const AVFrame& frame);
// Copies its samples, plane by plane.
void copy_pixels(const AVFrame& frame, const FrameShape& shape, std::uint8_t* slot);
// Returns FFmpeg's pixel format, or none.
AVPixelFormat pixel_format_of(const FrameShape& shape);

std::int64_t duration_of(const AVFrame& frame);

}  // namespace millrace::video_file
