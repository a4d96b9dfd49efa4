// The decoding helper: it decodes one picture at a time until its socket closes. It is allowed to crash.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/base/error.h"
#include "src/io/image/helper/decoder.h"
#include "src/io/image/picture.h"
#include "src/io/process/helper/sandbox.h"
#include "src/io/process/helper_startup.h"
#include "src/io/process/socket_bytes.h"

namespace millrace::helper {
namespace {

bool send_message(DecoderMessage message, const std::string& text, const std::vector<std::uint8_t>& exif) {
  message.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kMaxTextBytes));
  message.exif_bytes = exif.size() <= kMaxExifBytes ? static_cast<std::uint32_t>(exif.size()) : 0;
  return send_bytes(kSocket, &message, sizeof(message)) && send_bytes(kSocket, text.data(), message.text_bytes) &&
         send_bytes(kSocket, exif.data(), message.exif_bytes);
}

// Receives the request and the file that comes with it; false when the program has closed the socket.
bool receive(DecodeRequest& request, int& fd) {
  return receive_with_descriptor(kSocket, &request, sizeof(request), fd) && fd >= 0;
}

}  // namespace

bool DecoderChannel::ask(const DecoderMessage& message, const std::vector<std::uint8_t>& exif) {
  if (!send_message(message, {}, exif)) std::_Exit(0);
  ProgramReply answer{};
  if (::recv(kSocket, &answer, sizeof(answer), MSG_WAITALL) != static_cast<ssize_t>(sizeof(answer))) std::_Exit(0);
  return answer == ProgramReply::proceed;
}

bool DecoderChannel::prepare(int width, int height, std::uint64_t bytes) {
  DecoderMessage message{};
  message.kind = MessageKind::memory;
  message.width = message.full_width = width;
  message.height = message.full_height = height;
  message.channels = 3;
  message.decoder_memory = bytes;
  return ask(message);
}

bool DecoderChannel::begin(const DecoderMessage& about, const std::vector<std::uint8_t>& exif) {
  about_ = about;
  about_.kind = MessageKind::begin;
  if (static_cast<std::size_t>(about.width) * static_cast<std::size_t>(about.channels) > kSharedBytes) {
    fail(static_cast<int>(ErrorCode::too_large), "too wide (the limit for a row of pixels is 4 MiB)");
    return false;
  }
  return ask(about_, exif);
}

int DecoderChannel::max_rows() const {
  const std::size_t pitch = static_cast<std::size_t>(about_.width) * static_cast<std::size_t>(about_.channels);
  return static_cast<int>(std::min<std::size_t>(64, kSharedBytes / pitch));
}

bool DecoderChannel::rows(int count) {
  DecoderMessage message = about_;
  message.kind = MessageKind::rows;
  message.rows = count;
  return ask(message);
}

void DecoderChannel::end(bool damaged, const std::string& why, const UnshownData& unshown,
                         const std::vector<std::uint8_t>& exif) {
  DecoderMessage message = about_;
  message.kind = MessageKind::end;
  message.damaged = damaged;
  message.unshown = unshown.bits();
  if (!send_message(message, why, exif)) std::_Exit(0);
}

void DecoderChannel::fail(int error_code, const std::string& why) {
  DecoderMessage message{};
  message.kind = MessageKind::failed;
  message.error_code = static_cast<std::uint32_t>(error_code);
  if (!send_message(message, why, {})) std::_Exit(0);
}

bool send_plane(DecoderChannel& channel, const std::uint8_t* pixels, std::size_t stride, int width, int height,
                int channels, int pixel_step) {
  const int step = channel.max_rows();
  for (int y = 0; y < height; y += step) {
    const int count = std::min(step, height - y);
    std::uint8_t* to = channel.strip();
    for (int r = 0; r < count; ++r) {
      const std::uint8_t* from = pixels + static_cast<std::size_t>(y + r) * stride;
      for (int x = 0; x < width; ++x, from += pixel_step) {
        for (int c = 0; c < channels; ++c) *to++ = from[c];
      }
    }
    if (!channel.rows(count)) return false;
  }
  return true;
}

}  // namespace millrace::helper

void millrace::helper::load_decoders() { load_vips(); }

int main(int argc, char** argv) {
  using namespace millrace;
  if (argc == 2 && std::strcmp(argv[1], "--versions") == 0) {
    helper::print_versions();
    helper::load_decoders();
    std::fflush(stdout);  // in the sandbox, stdout cannot be written if it is a file
    for (const SandboxLayer& layer : enter_helper_sandbox()) helper::print_sandbox_layer(layer);
    std::fflush(stdout);
    std::_Exit(0);
  }
  initialize_helper(argc, argv);
  void* shared = mmap(nullptr, helper::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, helper::kSharedMemory, 0);
  if (shared == MAP_FAILED) std::_Exit(kExitCannotStart);
  helper::load_decoders();
  enter_helper_sandbox();
  end_with_program();
  helper::DecoderChannel channel(static_cast<std::uint8_t*>(shared));
  helper::DecodeRequest request{};
  int fd = -1;
  bool limited = false;
  while (helper::receive(request, fd)) {
    if (!limited) limit_memory(request.memory_limit, true);
    limited = true;
    const helper::DecodeJob job{fd,
                                static_cast<int>(request.format),
                                request.shortest_side,
                                request.gray != 0,
                                request.luma != 0,
                                request.wide_gray != 0,
                                request.over_gray != 0,
                                request.raw_data != 0};
    switch (static_cast<ImageFormat>(request.format)) {
      case ImageFormat::jpeg:
      case ImageFormat::png:
        decode_jpeg_or_png(job, channel);
        break;
      case ImageFormat::gif:
        decode_gif(job, channel);
        break;
      case ImageFormat::bmp:
        decode_bmp(job, channel);
        break;
      case ImageFormat::pnm:
        decode_pnm(job, channel);
        break;
      case ImageFormat::raw:
        decode_raw(job, channel);
        break;
      default:
        decode_with_vips(job, channel);
        break;
    }
    ::close(fd);
  }
  // A leak checker cannot work in the sandbox, so the process ends without it.
  std::_Exit(0);
}
