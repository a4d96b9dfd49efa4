#include "src/io/image/helper_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

extern char** environ;

namespace millrace {

std::string helper_program() {
  char self[4096];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
  const std::string path(self, n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.find_last_of('/') + 1) + "millrace-decoder";
}

std::unique_ptr<HelperProcess> HelperProcess::start() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
  const int memory = ::memfd_create("millrace-pixels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  auto helper = std::unique_ptr<HelperProcess>(new HelperProcess);
  helper->socket_ = pair[0];
  void* shared = MAP_FAILED;
  if (memory >= 0 && ::ftruncate(memory, helper::kSharedBytes) == 0) {
    shared = ::mmap(nullptr, helper::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    // A helper that shortened it would have the program die of reading what is not there.
    ::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  }
  if (shared != MAP_FAILED) helper->shared_ = static_cast<std::uint8_t*>(shared);
  if (helper->shared_ != nullptr) {
    // Descriptors are moved out of the way first: one of them may already be the number that the helper expects.
    const int high_socket = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 16);
    const int high_memory = ::fcntl(memory, F_DUPFD_CLOEXEC, 16);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, high_socket, helper::kSocket);
    posix_spawn_file_actions_adddup2(&actions, high_memory, helper::kSharedMemory);
    std::string program = helper_program();
    char* arguments[] = {program.data(), nullptr};
    pid_t pid = -1;
    if (::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ) == 0) helper->pid_ = pid;
    posix_spawn_file_actions_destroy(&actions);
    if (high_socket >= 0) ::close(high_socket);
    if (high_memory >= 0) ::close(high_memory);
  }
  ::close(pair[1]);
  if (memory >= 0) ::close(memory);
  if (helper->pid_ < 0) return nullptr;
  return helper;
}

HelperProcess::~HelperProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (shared_ != nullptr) ::munmap(shared_, helper::kSharedBytes);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

bool HelperProcess::alive() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

bool HelperProcess::request(const helper::Request& request, int fd) {
  iovec part{const_cast<helper::Request*>(&request), sizeof(request)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
  return ::sendmsg(socket_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(request));
}

bool HelperProcess::answer(helper::Answer answer) {
  return ::send(socket_, &answer, sizeof(answer), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(answer));
}

bool HelperProcess::wait_readable() {
  // A cancel is a flag set by a signal handler, which cannot wake us; so look at it now and then.
  constexpr int kSliceMs = 200;
  for (int waited = 0; waited < patience_s_ * 1000; waited += kSliceMs) {
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kSliceMs);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (cancelled_ && cancelled_()) {
      stopped_ = true;
      return false;
    }
  }
  silent_ = true;
  return false;
}

bool HelperProcess::receive(void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    if (!wait_readable()) return false;
    const ssize_t n = ::recv(socket_, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

Error HelperProcess::obituary() {
  constexpr const char* kOthers = "the other files are not affected";
  if (stopped_) return {ErrorCode::cancelled, "cancelled", "", ""};
  if (silent_) {
    return {ErrorCode::crashed, fmt::format("its decoder made no progress for {} s and was stopped", patience_s_), "",
            kOthers};
  }
  // The socket is closed before the process is gone; one that closed it and lives on is not waited for.
  int status = 0;
  pid_t gone = 0;
  for (int waited = 0; waited < 2000 && (gone = ::waitpid(pid_, &status, WNOHANG)) == 0; waited += 10) ::usleep(10'000);
  if (gone != pid_) return {ErrorCode::crashed, "its decoder stopped answering", "", kOthers};
  pid_ = -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return {ErrorCode::out_of_memory, "its decoder was killed, which the system does when memory runs out", "",
            "allow less with --memory, or use fewer --threads; the other files are not affected"};
  }
  if (WIFSIGNALED(status)) {
    return {ErrorCode::crashed, fmt::format("its decoder crashed ({})", ::strsignal(WTERMSIG(status))), "", kOthers};
  }
  return {ErrorCode::crashed, fmt::format("its decoder stopped with exit code {}", WEXITSTATUS(status)), "", kOthers};
}

}  // namespace millrace
