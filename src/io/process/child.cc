#include "src/io/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "src/base/log.h"
#include "src/base/text.h"

#include "src/io/process/socket_bytes.h"

extern char** environ;

namespace millrace {
namespace {

// Where libraries are found and how they are watched; what a person keeps in the environment is no helper's.
std::vector<char*> helper_environment() {
  constexpr std::array kPassed = {"LD_LIBRARY_PATH=", "LIBHEIF_PLUGIN_PATH=", "HDF5_PLUGIN_PATH=", "VIPSHOME=",
                                  "ASAN_OPTIONS=",    "UBSAN_OPTIONS=",       "TSAN_OPTIONS=",     "LSAN_OPTIONS="};
  std::vector<char*> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (std::any_of(kPassed.begin(), kPassed.end(), [&](const char* name) { return entry.starts_with(name); }))
      out.push_back(*at);
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::unique_ptr<Child> Child::start(const std::string& program, std::span<const int> given) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
  auto child = std::unique_ptr<Child>(new Child);
  child->socket_ = pair[0];
  // Descriptors are moved out of the way first: one of them may already be the number that the helper expects.
  std::vector<int> high = {::fcntl(pair[1], F_DUPFD_CLOEXEC, 16)};
  for (const int fd : given) high.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, 16));
  ::close(pair[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Nothing else of the program's is open in a helper, and it has no terminal.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (std::size_t i = 0; i < high.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, high[i], kHelperSocket + static_cast<int>(i));
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kHelperSocket + static_cast<int>(high.size()));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::vector<char*> environment = helper_environment();
  std::string path = program;
  char* arguments[] = {path.data(), nullptr};
  pid_t pid = -1;
  if (::posix_spawn(&pid, path.c_str(), &actions, &attributes, arguments, environment.data()) == 0) child->pid_ = pid;
  spdlog::debug("helper {}: process {}", printable(path), pid);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : high) {
    if (fd >= 0) ::close(fd);
  }
  return child->pid_ > 0 ? std::move(child) : nullptr;
}

Child::~Child() {
  if (socket_ >= 0) ::close(socket_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool Child::alive() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

bool Child::send(const void* data, std::size_t size) const { return send_bytes(socket_, data, size); }

double Child::seconds_computed() const {
  clockid_t clock{};
  timespec now{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Child::begin_work(int seconds) {
  allowed_s_ = seconds;
  computed_before_ = seconds_computed();
  work_ms_ = 0;
}

bool Child::wait_readable(int& waited_ms) {
  // A cancel is a flag set by a signal handler, which cannot wake us; so look at it now and then.
  constexpr int kSliceMs = 100, kSleepTimes = 10;
  while (waited_ms < patience_s_ * 1000) {
    pollfd waiting{socket_, POLLIN, 0};
    const auto since = std::chrono::steady_clock::now();
    const int ready = ::poll(&waiting, 1, kSliceMs);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
    waited_ms += static_cast<int>(took.count());
    work_ms_ += took.count();
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (cancelled_ && cancelled_()) {
      stopped_ = true;
      return false;
    }
    if (allowed_s_ > 0 && (seconds_computed() - computed_before_ > allowed_s_ ||
                           work_ms_ > std::int64_t{1000} * kSleepTimes * allowed_s_)) {
      late_ = true;
      return false;
    }
  }
  silent_ = true;
  return false;
}

bool Child::receive(void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  int waited_ms = 0;
  while (size > 0) {
    if (!wait_readable(waited_ms)) return false;
    const ssize_t n = ::recv(socket_, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

Error Child::obituary(const Words& words) {
  if (stopped_) return {ErrorCode::cancelled, "cancelled", "", ""};
  if (late_) {
    return {ErrorCode::timed_out, fmt::format("{} worked for more than {} s and was stopped", words.who, allowed_s_),
            "", words.remedy};
  }
  if (silent_) {
    return {ErrorCode::timed_out, fmt::format("{} made no progress for {} s and was stopped", words.who, patience_s_),
            "", words.remedy};
  }
  // The socket is closed before the process is gone; one that closed it and lives on is not waited for.
  int status = 0;
  pid_t gone = 0;
  for (int waited = 0; waited < 2000 && (gone = ::waitpid(pid_, &status, WNOHANG)) == 0; waited += 10) ::usleep(10'000);
  if (gone != pid_) return {ErrorCode::crashed, fmt::format("{} stopped answering", words.who), "", words.remedy};
  pid_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return {ErrorCode::out_of_memory,
            fmt::format("{} was killed, which the system does when memory runs out", words.who), "",
            words.memory_remedy};
  }
  if (WIFSIGNALED(status)) {
    return {ErrorCode::crashed, fmt::format("{} ({})", words.crashed, ::strsignal(WTERMSIG(status))), "", words.remedy};
  }
  constexpr int kNotLinked = 127;
  const int code = WEXITSTATUS(status);
  return {code == kCannotBegin || code == kNotLinked ? ErrorCode::unavailable : ErrorCode::crashed,
          fmt::format("{} stopped with exit code {}", words.who, code), "", words.remedy};
}

}  // namespace millrace
