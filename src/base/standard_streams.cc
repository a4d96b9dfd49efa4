#include "src/base/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "src/base/error.h"

namespace millrace {
namespace {

std::atomic<bool> stderr_works{true};

// Longest wait in milliseconds for a non-blocking terminal or pipe that is full.
constexpr int kMaxWaitMs = 1000;

// Returns 0, or errno. The descriptor may be non-blocking, because it is shared with the process that started the
// program.
int write_all_to(int fd, std::string_view bytes, int max_wait_ms) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      if (::poll(&ready, 1, max_wait_ms) == 0) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one. Standard output must stay unwritable: data sent there
    // would be lost, and that has to be an error.
    ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void write_stderr(std::string_view text) noexcept {
  if (!stderr_works.load(std::memory_order_relaxed)) return;
  if (write_all_to(STDERR_FILENO, text, kMaxWaitMs) != 0) stderr_works.store(false, std::memory_order_relaxed);
}

bool has_stderr() noexcept { return stderr_works.load(std::memory_order_relaxed); }

void write_stdout(std::string_view data) {
  constexpr int kNoLimit = -1;
  const int number = write_all_to(STDOUT_FILENO, data, kNoLimit);
  if (number == 0) return;
  Error error = system_error("it cannot be written", "standard output", number);
  error.code = ErrorCode::standard_output;
  throw Failure(std::move(error));
}

}  // namespace millrace
