#include "src/io/image/helper_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/helper/protocol.h"

extern char** environ;

namespace millrace {
namespace {

using helper::Answer;
using helper::Kind;
using helper::Message;

// No healthy decoder is silent for this long between two strips; a hostile file can make one loop for ever.
constexpr int kSilenceMs = 60'000;

std::atomic<std::uint64_t> memory_limit{0};

class Helper {
 public:
  static std::unique_ptr<Helper> start() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return nullptr;
    const int memory = ::memfd_create("millrace-pixels", MFD_CLOEXEC);
    auto helper = std::unique_ptr<Helper>(new Helper);
    helper->socket_ = pair[0];
    void* shared = MAP_FAILED;
    if (memory >= 0 && ::ftruncate(memory, helper::kSharedBytes) == 0) {
      shared = ::mmap(nullptr, helper::kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
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
      ::close(high_socket);
      ::close(high_memory);
    }
    ::close(pair[1]);
    if (memory >= 0) ::close(memory);
    if (helper->pid_ < 0) return nullptr;
    if (const std::uint64_t limit = memory_limit.load(); limit > 0) {
      const rlimit bound{limit, limit};
      ::prlimit(helper->pid_, RLIMIT_AS, &bound, nullptr);
    }
    return helper;
  }

  ~Helper() {
    if (socket_ >= 0) ::close(socket_);
    if (shared_ != nullptr) ::munmap(shared_, helper::kSharedBytes);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  bool request(const helper::Request& request, int fd) {
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

  bool receive(void* data, std::size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      pollfd waiting{socket_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, kSilenceMs);
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) silent_ = true;
      if (ready <= 0) return false;
      const ssize_t n = ::recv(socket_, at, size, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }

  bool answer(Answer answer) {
    return ::send(socket_, &answer, sizeof(answer), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(answer));
  }

  // What became of a helper that stopped answering.
  std::string obituary() {
    if (silent_) return "its decoder made no progress for 60 s and was stopped";
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      pid_ = -1;
      if (WIFSIGNALED(status)) return fmt::format("its decoder crashed ({})", strsignal(WTERMSIG(status)));
      return fmt::format("its decoder stopped with exit code {}", WEXITSTATUS(status));
    }
    return "its decoder crashed";
  }

  const std::uint8_t* shared() const { return shared_; }

 private:
  Helper() = default;
  int socket_ = -1;
  pid_t pid_ = -1;
  std::uint8_t* shared_ = nullptr;
  bool silent_ = false;
};

std::mutex idle_mutex;
std::vector<std::unique_ptr<Helper>>& idle_helpers() {
  static std::vector<std::unique_ptr<Helper>> idle;
  return idle;
}

std::unique_ptr<Helper> take_helper() {
  {
    const std::lock_guard lock(idle_mutex);
    if (!idle_helpers().empty()) {
      auto helper = std::move(idle_helpers().back());
      idle_helpers().pop_back();
      return helper;
    }
  }
  return Helper::start();
}

void give_back(std::unique_ptr<Helper> helper) {
  const std::lock_guard lock(idle_mutex);
  idle_helpers().push_back(std::move(helper));
}

bool sane(const Message& m) {
  return m.width > 0 && m.height > 0 && (m.channels == 1 || m.channels == 3) &&
         m.text_bytes <= helper::kMostText && m.exif_bytes <= helper::kMostExif;
}

}  // namespace

std::string helper_program() {
  char self[4096];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
  const std::string path(self, n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.find_last_of('/') + 1) + "millrace-decoder";
}

void limit_helper_memory(Bytes limit) { memory_limit.store(limit.count); }

void stop_helpers() {
  const std::lock_guard lock(idle_mutex);
  idle_helpers().clear();
}

Outcome<Decoded> decode_in_helper(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink) {
  const std::string subject = printable(file.path());
  // The caller has looked at the file's head and hashes it at the end, so the helper gets a descriptor of its own.
  const int fd = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error("cannot be opened", subject, errno);
  struct Close {
    int fd;
    ~Close() { ::close(fd); }
  } close_it{fd};

  auto helper = take_helper();
  if (!helper) {
    return Error{ErrorCode::unavailable, "the decoding helper millrace-decoder cannot be started", subject,
                 "check that it lies beside the millrace program"};
  }
  const auto died = [&]() -> Error { return {ErrorCode::crashed, helper->obituary(), subject, "the other files are not affected"}; };
  if (!helper->request({static_cast<std::uint32_t>(format), options.shortest_side}, fd)) return died();

  Decoded result;
  bool begun = false;
  int delivered = 0;
  std::optional<Error> refused;
  // A sink may throw; then the helper, in the middle of its file, is not given back but ended.
  while (true) {
    Message m{};
    if (!helper->receive(&m, sizeof(m))) return died();
    std::string text(std::min(m.text_bytes, helper::kMostText), '\0');
    std::vector<std::uint8_t> exif(std::min(m.exif_bytes, helper::kMostExif));
    if (!helper->receive(text.data(), text.size()) || !helper->receive(exif.data(), exif.size())) return died();
    if (m.kind == Kind::failed) {
      give_back(std::move(helper));
      return Error{static_cast<ErrorCode>(m.error_code), utf8_for_display(text), subject, ""};
    }
    if (!sane(m)) return Error{ErrorCode::crashed, "its decoder sent nonsense", subject, ""};
    if (m.kind == Kind::begin) {
      begun = true;
      result.info.format = format;
      result.info.width = m.width;
      result.info.height = m.height;
      result.info.full_width = m.full_width;
      result.info.full_height = m.full_height;
      result.info.channels = m.channels;
      result.info.exact = m.exact != 0;
      result.info.decoder_memory = {m.decoder_memory};
      result.info.exif = parse_exif(exif);
      if (m.orientation >= 1 && m.orientation <= 8) result.info.exif.orientation = static_cast<Orientation>(m.orientation);
      refused = check_sides(static_cast<std::uint64_t>(m.full_width), static_cast<std::uint64_t>(m.full_height), options, subject);
      if (!refused) refused = sink.begin(result.info);
      if (!helper->answer(refused ? Answer::stop : Answer::go_on)) return died();
      if (refused) {
        give_back(std::move(helper));
        return *refused;
      }
    } else if (m.kind == Kind::rows) {
      const std::size_t pitch = static_cast<std::size_t>(result.info.width) * static_cast<std::size_t>(result.info.channels);
      if (!begun || m.rows <= 0 || m.rows > result.info.height - delivered ||
          static_cast<std::size_t>(m.rows) * pitch > helper::kSharedBytes) {
        return Error{ErrorCode::crashed, "its decoder sent nonsense", subject, ""};
      }
      sink.rows(helper->shared(), static_cast<std::ptrdiff_t>(pitch), m.rows);
      delivered += m.rows;
      if (!helper->answer(Answer::go_on)) return died();
    } else {
      if (!begun || delivered != result.info.height) return Error{ErrorCode::crashed, "its decoder sent nonsense", subject, ""};
      result.damaged = m.damaged != 0;
      result.damage = utf8_for_display(text);
      give_back(std::move(helper));
      return result;
    }
  }
}

}  // namespace millrace
