// The video helper: it does one task at a time until its socket closes. It is allowed to crash.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "src/io/process/helper/sandbox.h"
#include "src/io/process/helper_startup.h"
#include "src/io/video/helper/channel.h"

namespace millrace::video_file {
namespace {

void do_task(Channel& channel, Channel::ReceivedMessage& incoming) {
  try {
    const Json what = incoming.text.empty() ? Json::object() : Json::parse(incoming.text);
    limit_memory(what.value("memory", std::uint64_t{0}), true);
    switch (incoming.message.kind) {
      case MessageKind::probe:
        return probe(channel, incoming.fd, what);
      case MessageKind::decode:
        return decode(channel, incoming.fd, what);
      case MessageKind::encode:
        return encode(channel, what);
      case MessageKind::mux:
        return mux(channel, incoming.fd, what);
      default:  // message left over from a failed task
        return;
    }
  } catch (const FatalError& error) {
    Message message;
    message.kind = MessageKind::failed;
    message.error_code = static_cast<std::uint32_t>(error.code);
    channel.send(message, error.what());
  } catch (const std::bad_alloc&) {
    Message message;
    message.kind = MessageKind::failed;
    message.error_code = static_cast<std::uint32_t>(ErrorCode::out_of_memory);
    channel.send(message, "there is not enough memory for it");
  } catch (const Json::Error& error) {
    Message message;
    message.kind = MessageKind::failed;
    message.error_code = static_cast<std::uint32_t>(ErrorCode::internal);
    channel.send(message, error.what());
  }
}

// Prints versions in the format of the picture decoder; "reads" lists the encoders that are available here.
void print_versions() {
  std::string encoders;
  for (const char* name :
       {"libx264", "libopenh264", "libx265", "libvpx-vp9", "libsvtav1", "libaom-av1", "prores_ks", "ffv1"})
    if (avcodec_find_encoder_by_name(name) != nullptr)
      encoders += fmt::format("{}\"{}\"", encoders.empty() ? "" : ",", name);
  fmt::print("{{\"library\":\"FFmpeg\",\"version\":\"{} ({})\",\"reads\":[{}]}}\n", av_version_info(),
             avcodec_license(), encoders);
}

}  // namespace
}  // namespace millrace::video_file

int main(int argc, char** argv) {
  using namespace millrace;
  av_log_set_level(AV_LOG_QUIET);
  if (argc == 2 && std::strcmp(argv[1], "--versions") == 0) {
    video_file::print_versions();
    std::fflush(stdout);  // in the sandbox, stdout cannot be written if it is a file
    for (const SandboxLayer& layer : enter_helper_sandbox())
      fmt::print("{{\"wall\":\"{}\",\"stands\":{},\"how\":\"{}\"}}\n", layer.name, layer.is_active, layer.how);
    std::fflush(stdout);
    std::_Exit(0);
  }
  initialize_helper(argc, argv);
  struct stat about {};
  if (::fstat(video_file::kSlots, &about) != 0 || about.st_size <= 0) std::_Exit(kExitCannotStart);
  const auto bytes = static_cast<std::size_t>(about.st_size);
  void* slots = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, video_file::kSlots, 0);
  if (slots == MAP_FAILED) std::_Exit(kExitCannotStart);
  enter_helper_sandbox();
  end_with_program();
  video_file::Channel channel(static_cast<std::uint8_t*>(slots), bytes);
  video_file::Channel::ReceivedMessage incoming;
  while (channel.receive(incoming)) {
    video_file::do_task(channel, incoming);
    if (incoming.fd >= 0) ::close(incoming.fd);
  }
  std::_Exit(0);
}
