// Input: FFmpeg's headers, which are C.
// Output: its objects with an owner; a file that is open already, as it reads files.
// Never: a path, or another file than that one.
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

namespace millrace::film {

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

// What is open under a descriptor, whose place in the file is not used.
class Input {
 public:
  // Finds out what it is and what streams it has. Throws CannotGoOn.
  explicit Input(int fd);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  AVFormatContext* operator->() const { return format_; }
  AVFormatContext* get() const { return format_; }
  // The next packet; false at the end, also where the file ends in the middle of something. What is no packet is passed
  // over and counted. Throws CannotGoOn where the file could not be read: what was read then is not the film.
  bool next(AVPacket& packet);
  std::uint64_t passed_over() const { return passed_over_; }

 private:
  static int read(void* self, std::uint8_t* to, int bytes);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  int fd_;
  std::int64_t at_ = 0, size_ = 0;
  int failed_ = 0;  // errno of a read
  std::uint64_t passed_over_ = 0;
  AVIOContext* io_ = nullptr;
  AVFormatContext* format_ = nullptr;
};

// A stream's decoder, ready. Throws CannotGoOn.
CodecContext open_decoder(const AVStream& stream, int threads);
// Where it lies among a film's: after which turn, to the right in degrees, it stands upright: 0, 90, 180, 270; -1: by
// another angle.
int rotation_of(const AVStream& stream);
// Data beside a stream, of each kind that there is.
struct SideData {
  AVPacketSideDataType type;
  const std::uint8_t* data;
  std::size_t size;
};
std::vector<SideData> side_data_of(const AVStream& stream);
void add_side_data(AVStream& stream, const SideData& one);

// How a decoder's frame is as the program knows it. Throws CannotGoOn for pixels that it does not know.
Shape shape_of(const AVFrame& frame);
// Its numbers, plane by plane.
void copy_pixels(const AVFrame& frame, const Shape& shape, std::uint8_t* slot);
// Its name as FFmpeg has it, or none.
AVPixelFormat pixel_format_of(const Shape& shape);

std::int64_t duration_of(const AVFrame& frame);

}  // namespace millrace::film
