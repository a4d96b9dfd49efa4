#include "src/io/video/helper/libav.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

constexpr int kBuffer = 1 << 18;
// Formats of FFmpeg that contain the names of files instead of frames.
constexpr std::array<std::string_view, 5> kListsOfFiles = {"hls", "dash", "concat", "sdp", "rtsp"};

}  // namespace

std::string words_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof text);
  return text;
}

void fail(const std::string& what, int error) {
  throw FatalError(error == AVERROR(ENOMEM) ? ErrorCode::out_of_memory : ErrorCode::bad_data,
                   error == 0 ? what : what + " (" + words_of(error) + ")");
}

void check(int error, const std::string& what) {
  if (error < 0) fail(what, error);
}

Frame make_frame() {
  Frame out(av_frame_alloc());
  if (!out) throw std::bad_alloc();
  return out;
}

Packet make_packet() {
  Packet out(av_packet_alloc());
  if (!out) throw std::bad_alloc();
  return out;
}

int Input::read(void* self, std::uint8_t* to, int bytes) {
  auto& input = *static_cast<Input*>(self);
  ssize_t n = 0;
  do {
    n = ::pread(input.fd_, to, static_cast<std::size_t>(bytes), input.at_);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    input.failed_ = errno;
    return AVERROR(errno);
  }
  input.at_ += n;
  return n == 0 ? AVERROR_EOF : static_cast<int>(n);
}

std::int64_t Input::seek(void* self, std::int64_t offset, int whence) {
  auto& input = *static_cast<Input*>(self);
  switch (whence & ~AVSEEK_FORCE) {
    case AVSEEK_SIZE:
      return input.size_;
    case SEEK_SET:
      break;
    case SEEK_CUR:
      offset += input.at_;
      break;
    case SEEK_END:
      offset += input.size_;
      break;
    default:
      return AVERROR(EINVAL);
  }
  if (offset < 0) return AVERROR(EINVAL);
  return input.at_ = offset;
}

Input::Input(int fd) : fd_(fd), size_(::lseek(fd, 0, SEEK_END)) {
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
  if (buffer == nullptr) throw std::bad_alloc();
  io_ = avio_alloc_context(buffer, kBuffer, 0, this, &Input::read, nullptr, &Input::seek);
  format_ = avformat_alloc_context();
  if (io_ == nullptr || format_ == nullptr) throw std::bad_alloc();
  format_->pb = io_;
  // A list of other files must not open any.
  format_->io_open = [](AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EPERM); };
  const AVInputFormat* kind = nullptr;
  if (const int error = av_probe_input_buffer2(io_, &kind, "", nullptr, 0, 0); error < 0) {
    fail("no video format was recognized in it", error);
  }
  const std::string_view name = kind->name;
  if (std::find(kListsOfFiles.begin(), kListsOfFiles.end(), name) != kListsOfFiles.end()) {
    throw FatalError(ErrorCode::unsupported, fmt::format("it is a playlist of other files ({}), not a video", name));
  }
  if (const int error = avformat_open_input(&format_, "", kind, nullptr); error < 0) {
    fail("no video format was recognized in it", error);
  }
  check(avformat_find_stream_info(format_, nullptr), "its streams cannot be determined");
}

Input::~Input() {
  avformat_close_input(&format_);
  if (io_ != nullptr) av_freep(&io_->buffer);
  avio_context_free(&io_);
}

bool Input::next(AVPacket& packet) {
  // A file that contains nothing but errors could be read for ever.
  constexpr int kMaxErrorsInARow = 10'000;
  for (int k = 0; k < kMaxErrorsInARow; ++k) {
    const int error = av_read_frame(format_, &packet);
    if (failed_ != 0)
      throw FatalError(ErrorCode::io, std::string("it cannot be read to its end (") + std::strerror(failed_) + ")");
    if (error == AVERROR(ENOMEM)) throw std::bad_alloc();
    if (error >= 0) return true;
    if (error == AVERROR_EOF) return false;
    ++skipped_packets_;
    if (error != AVERROR_INVALIDDATA && error != AVERROR(EAGAIN)) return false;
  }
  return false;
}

CodecContext open_decoder(const AVStream& stream, int threads) {
  const AVCodec* codec = avcodec_find_decoder(stream.codecpar->codec_id);
  // FFmpeg's own decoders of VP8 and VP9 drop the alpha channel.
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (alpha != nullptr && std::strcmp(alpha->value, "1") == 0) {
    const bool vp9 = stream.codecpar->codec_id == AV_CODEC_ID_VP9, vp8 = stream.codecpar->codec_id == AV_CODEC_ID_VP8;
    if (vp8 || vp9) codec = avcodec_find_decoder_by_name(vp9 ? "libvpx-vp9" : "libvpx");
  }
  const std::string name = avcodec_get_name(stream.codecpar->codec_id);
  if (codec == nullptr) throw FatalError(ErrorCode::unsupported, "no decoder is available for " + name);
  CodecContext out(avcodec_alloc_context3(codec));
  if (!out) throw std::bad_alloc();
  check(avcodec_parameters_to_context(out.get(), stream.codecpar), "its decoder cannot be set up");
  out->pkt_timebase = stream.time_base;
  out->thread_count = threads;
  // Frames may change their size; the receiver detects that.
  check(avcodec_open2(out.get(), codec, nullptr), "the decoder for " + name + " cannot be opened");
  return out;
}

std::vector<SideData> side_data_of(const AVStream& stream) {
  std::vector<SideData> out;
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  for (int i = 0; i < stream.codecpar->nb_coded_side_data; ++i) {
    const AVPacketSideData& one = stream.codecpar->coded_side_data[i];
    out.push_back({one.type, one.data, static_cast<std::size_t>(one.size)});
  }
#else
  for (int i = 0; i < stream.nb_side_data; ++i) {
    const AVPacketSideData& one = stream.side_data[i];
    out.push_back({one.type, one.data, static_cast<std::size_t>(one.size)});
  }
#endif
  return out;
}

void add_side_data(AVStream& stream, const SideData& one) {
  auto* copy = static_cast<std::uint8_t*>(av_memdup(one.data, one.size));
  if (copy == nullptr) throw std::bad_alloc();
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
  if (av_packet_side_data_add(&stream.codecpar->coded_side_data, &stream.codecpar->nb_coded_side_data, one.type, copy,
                              one.size, 0) == nullptr)
    av_free(copy);
#else
  if (av_stream_add_side_data(&stream, one.type, copy, one.size) < 0) av_free(copy);
#endif
}

int rotation_of(const AVStream& stream) {
  for (const SideData& one : side_data_of(stream)) {
    if (one.type != AV_PKT_DATA_DISPLAYMATRIX || one.size < 9 * sizeof(std::int32_t)) continue;
    const double counterclockwise = av_display_rotation_get(reinterpret_cast<const std::int32_t*>(one.data));
    if (std::isnan(counterclockwise)) return -1;
    const int turns = static_cast<int>(std::lround(-counterclockwise / 90));
    if (std::abs(-counterclockwise - 90.0 * turns) > 1) return -1;
    return ((turns % 4) + 4) % 4 * 90;
  }
  return 0;
}

std::int64_t duration_of(const AVFrame& frame) {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

}  // namespace millrace::video_file
