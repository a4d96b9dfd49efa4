// The video helper: it does one task at a time until its socket closes. It is allowed to crash.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "src/io/process/helper/walls.h"
#include "src/io/process/helper_side.h"
#include "src/io/video/helper/film.h"

namespace millrace::film {
namespace {

void do_task(Channel& channel, Channel::Heard& heard) {
  try {
    const Json what = heard.text.empty() ? Json::object() : Json::parse(heard.text);
    limit_memory(what.value("memory", std::uint64_t{0}), true);
    switch (heard.message.say) {
      case Say::probe:
        return probe(channel, heard.fd, what);
      case Say::decode:
        return decode(channel, heard.fd, what);
      case Say::encode:
        return encode(channel, what);
      case Say::mux:
        return mux(channel, heard.fd, what);
      default:  // message left over from a failed task
        return;
    }
  } catch (const CannotGoOn& error) {
    Message message;
    message.say = Say::failed;
    message.error_code = static_cast<std::uint32_t>(error.code);
    channel.say(message, error.what());
  } catch (const std::bad_alloc&) {
    Message message;
    message.say = Say::failed;
    message.error_code = static_cast<std::uint32_t>(ErrorCode::out_of_memory);
    channel.say(message, "there is not enough memory for it");
  } catch (const Json::Error& error) {
    Message message;
    message.say = Say::failed;
    message.error_code = static_cast<std::uint32_t>(ErrorCode::internal);
    channel.say(message, error.what());
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
}  // namespace millrace::film

int main(int argc, char** argv) {
  using namespace millrace;
  av_log_set_level(AV_LOG_QUIET);
  if (argc == 2 && std::strcmp(argv[1], "--versions") == 0) {
    film::print_versions();
    std::fflush(stdout);  // in the sandbox, stdout cannot be written if it is a file
    for (const Wall& wall : put_up_walls())
      fmt::print("{{\"wall\":\"{}\",\"stands\":{},\"how\":\"{}\"}}\n", wall.name, wall.stands, wall.how);
    std::fflush(stdout);
    std::_Exit(0);
  }
  begin_helping(argc, argv);
  struct stat about {};
  if (::fstat(film::kSlots, &about) != 0 || about.st_size <= 0) std::_Exit(kCannotBegin);
  const auto bytes = static_cast<std::size_t>(about.st_size);
  void* slots = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, film::kSlots, 0);
  if (slots == MAP_FAILED) std::_Exit(kCannotBegin);
  put_up_walls();
  end_with_program();
  film::Channel channel(static_cast<std::uint8_t*>(slots), bytes);
  film::Channel::Heard heard;
  while (channel.hear(heard)) {
    film::do_task(channel, heard);
    if (heard.fd >= 0) ::close(heard.fd);
  }
  std::_Exit(0);
}
