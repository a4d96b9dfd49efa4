#include "src/io/process/child_process.h"

#include <fmt/format.h>
#include <poll.h>
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
#include "src/base/version.h"
#include "src/io/file/directory_entry.h"
#include "src/io/process/socket_bytes.h"
#include "src/io/process/spawn.h"

namespace millrace {
std::unique_ptr<ChildProcess> ChildProcess::start(const std::string& program, std::span<const int> given) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
  auto child = std::unique_ptr<ChildProcess>(new ChildProcess);
  child->socket_ = pair[0];
  const Descriptor theirs(pair[1]);
  std::vector<std::pair<int, int>> descriptors = {{theirs.get(), kHelperSocket}};
  for (const int fd : given) descriptors.emplace_back(fd, kHelperSocket + static_cast<int>(descriptors.size()));
  const std::string own_version = version();
  const int failed = spawn(program, {&own_version, 1}, descriptors, child->pid_);
  spdlog::debug("helper {}: process {}", escape_unprintable(program), child->pid_);
  return failed == 0 ? std::move(child) : nullptr;
}

ChildProcess::~ChildProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool ChildProcess::is_alive() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

bool ChildProcess::send(const void* data, std::size_t size) const { return send_bytes(socket_, data, size); }

double ChildProcess::cpu_seconds() const {
  clockid_t clock{};
  timespec now{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void ChildProcess::begin_work(int seconds) {
  work_limit_s_ = seconds;
  computed_before_ = cpu_seconds();
  work_ms_ = 0;
}

void ChildProcess::wake_if_stopped() const {
  siginfo_t seen{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WSTOPPED | WNOHANG) == 0 && seen.si_pid == pid_)
    ::kill(pid_, SIGCONT);
}

bool ChildProcess::wait_readable(int& waited_ms) {
  // Cancelling sets a flag in a signal handler, which cannot wake this thread, so the flag is checked between short
  // waits.
  constexpr int kSliceMs = 100, kSleepTimes = 10, kMaxSliceMs = 1000;
  while (waited_ms < timeout_s_ * 1000) {
    pollfd waiting{socket_, POLLIN, 0};
    const auto since = std::chrono::steady_clock::now();
    const int ready = ::poll(&waiting, 1, kSliceMs);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
    // A longer wait means that the whole program was stopped, which is not the helper's fault.
    const auto counted = std::min<std::int64_t>(took.count(), kMaxSliceMs);
    waited_ms += static_cast<int>(counted);
    work_ms_ += counted;
    if (ready > 0) return true;
    if (ready == 0) wake_if_stopped();
    if (ready < 0 && errno != EINTR) return false;
    if (cancelled_ && cancelled_()) {
      stopped_ = true;
      return false;
    }
    if (work_limit_s_ > 0 && (cpu_seconds() - computed_before_ > work_limit_s_ ||
                              work_ms_ > std::int64_t{1000} * kSleepTimes * work_limit_s_)) {
      late_ = true;
      return false;
    }
  }
  silent_ = true;
  return false;
}

bool ChildProcess::receive(void* data, std::size_t size) {
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

Error ChildProcess::describe_exit(const ErrorWords& words) {
  if (stopped_) return interrupted();
  if (late_) {
    return {ErrorCode::timed_out, fmt::format("{} took more than {} s and was stopped", words.who, work_limit_s_), "",
            words.remedy};
  }
  if (silent_) {
    return {ErrorCode::timed_out, fmt::format("{} made no progress for {} s and was stopped", words.who, timeout_s_),
            "", words.remedy};
  }
  // The socket is closed before the process has ended. A helper that closed it and lives on is waited for 2 s at most.
  int status = 0;
  pid_t gone = 0;
  for (int waited = 0; waited < 2000 && (gone = ::waitpid(pid_, &status, WNOHANG)) == 0; waited += 10) ::usleep(10'000);
  if (gone != pid_) return {ErrorCode::crashed, fmt::format("{} stopped answering", words.who), "", words.remedy};
  pid_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return {ErrorCode::out_of_memory,
            fmt::format("{} was killed; the system does this when memory runs out", words.who), "",
            words.memory_remedy};
  }
  if (WIFSIGNALED(status)) {
    return {ErrorCode::crashed, fmt::format("{} ({})", words.crashed, ::strsignal(WTERMSIG(status))), "", words.remedy};
  }
  constexpr int kNotLinked = 127;
  const int code = WEXITSTATUS(status);
  if (code == kExitWrongVersion) {
    return {ErrorCode::unavailable, fmt::format("{} has another version than this program ({})", words.who, version()),
            "",
            "install the program and its helpers in one version; MILLRACE_HELPERS can give the folder of the helpers"};
  }
  return {code == kExitCannotStart || code == kNotLinked ? ErrorCode::unavailable : ErrorCode::crashed,
          fmt::format("{} stopped with exit code {}", words.who, code), "", words.remedy};
}

}  // namespace millrace
