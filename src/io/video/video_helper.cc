#include "src/io/video/video_helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/process/helper_path.h"
#include "src/io/process/socket_bytes.h"

namespace millrace::video_file {

static_assert(kSocket == kHelperSocket && kSlots == kHelperSocket + 1);

VideoHelper::VideoHelper(std::string subject, std::size_t shared, Bytes memory, std::function<bool()> cancelled)
    : subject_(std::move(subject)),
      memory_(memory),
      shared_bytes_(std::max<std::size_t>(shared, 4096)),
      cancelled_(cancelled) {
  const std::string program = find_helper("millrace-film");
  if (::access(program.c_str(), X_OK) != 0)
    throw Failure(ErrorCode::unavailable, "the video helper was not found", escape_unprintable(program),
                  helper_remedy("millrace-film"));
  const Descriptor slots(::memfd_create("millrace-film", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  void* mapped = MAP_FAILED;
  if (slots && ::ftruncate(slots.get(), static_cast<off_t>(shared_bytes_)) == 0)
    mapped = ::mmap(nullptr, shared_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, slots.get(), 0);
  if (mapped == MAP_FAILED)
    throw Failure(system_error("no memory is available to share with the video helper", subject_, errno));
  shared_ = static_cast<std::uint8_t*>(mapped);
  // Seals fix the size. If a helper shortened the memory, the program would be killed by a SIGBUS when it reads past
  // the end.
  ::fcntl(slots.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  child_ = ChildProcess::start(program, std::array{slots.get()});
  if (!child_) {
    ::munmap(shared_, shared_bytes_);
    throw Failure(ErrorCode::unavailable, "the video helper cannot be started", escape_unprintable(program),
                  helper_remedy("millrace-film"));
  }
  constexpr int kTimeoutSeconds = 600;
  child_->set_timeout(kTimeoutSeconds);
  child_->set_cancelled(std::move(cancelled));
}

VideoHelper::~VideoHelper() {
  child_.reset();
  ::munmap(shared_, shared_bytes_);
}

void VideoHelper::send(Message message, std::string_view text, const void* data, std::size_t bytes, int fd) {
  message.text_bytes = static_cast<std::uint32_t>(text.size());
  message.data_bytes = static_cast<std::uint32_t>(bytes);
  const MutexLock one_at_a_time(sending_);
  // Errors are ignored here, because receive() reports them in words. A descriptor goes with the first message, when
  // the socket has room.
  const bool begun =
      fd >= 0 ? send_with_descriptor(child_->socket(), &message, sizeof message, fd) : send(&message, sizeof message);
  (void)(begun && send(text.data(), text.size()) && send(data, bytes));
}

// Sends without blocking, because a compromised helper may never read.
bool VideoHelper::send(const void* data, std::size_t bytes) {
  constexpr int kSliceMs = 100, kMaxSlices = 6000;
  const auto* at = static_cast<const char*>(data);
  for (int slices = 0; bytes > 0;) {
    const ssize_t n = ::send(child_->socket(), at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      at += n;
      bytes -= static_cast<std::size_t>(n);
      slices = 0;
      continue;
    }
    if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return false;
    pollfd waiting{child_->socket(), POLLOUT, 0};
    if (::poll(&waiting, 1, kSliceMs) != 0) continue;
    child_->wake_if_stopped();
    if (++slices >= kMaxSlices || (cancelled_ && cancelled_())) return false;
  }
  return true;
}

void VideoHelper::receive(ReceivedMessage& out, std::uint32_t max_data) {
  if (!child_->receive(&out.message, sizeof out.message)) fail_as_it_ended();
  if (out.message.text_bytes > kMaxText || out.message.data_bytes > max_data)
    throw Failure(ErrorCode::crashed, "the video helper sent an invalid answer", subject_, "");
  out.text.resize(out.message.text_bytes);
  out.data.resize(out.message.data_bytes);
  if (!child_->receive(out.text.data(), out.text.size()) || !child_->receive(out.data.data(), out.data.size()))
    fail_as_it_ended();
  if (out.message.kind == MessageKind::failed) {
    const auto code = out.message.error_code <= static_cast<std::uint32_t>(ErrorCode::timed_out)
                          ? static_cast<ErrorCode>(out.message.error_code)
                          : ErrorCode::internal;
    throw Failure(code, escape_unprintable(out.text), subject_,
                  code == ErrorCode::out_of_memory ? "allow more with --memory" : "");
  }
}

void VideoHelper::close() const { ::shutdown(child_->socket(), SHUT_RDWR); }

void VideoHelper::fail_as_it_ended() {
  Error error = child_->describe_exit(
      {"the video helper", "the video helper crashed", "", "allow less with --memory, or use fewer --threads"});
  error.subject = subject_;
  throw Failure(error);
}

}  // namespace millrace::video_file
