#include "src/io/store/hdf5_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "src/base/text.h"

extern char** environ;

namespace millrace::hdf5 {
namespace {

// A damaged file can make the library loop for ever. No healthy one takes longer for a block of rows.
constexpr int kPatienceSeconds = 60;
// Before the helper says how much a dataset takes.
constexpr Bytes kLookingMemory = 256_MiB;

// Beside the program, where the build and a package put it.
std::string helper_path() {
  char self[4096];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
  const std::string path(self, n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.find_last_of('/') + 1) + "millrace-hdf5";
}

}  // namespace

bool Reader::start() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  // Moved out of the way: it may already be the number that the helper expects.
  const int theirs = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 16);
  ::close(pair[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, helper::kSocket);
  std::string program = helper_path();
  char* arguments[] = {program.data(), nullptr};
  pid_t pid = -1;
  const bool started = theirs >= 0 && ::posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (theirs >= 0) ::close(theirs);
  if (!started) {
    ::close(pair[0]);
    return false;
  }
  socket_ = pair[0];
  pid_ = pid;
  silent_ = stopped_ = false;
  return true;
}

void Reader::stop() {
  if (socket_ >= 0) ::close(socket_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  socket_ = -1;
  pid_ = -1;
}

bool Reader::send(const void* data, std::size_t size) const {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(socket_, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool Reader::receive(void* data, std::size_t size) {
  constexpr int kSliceMs = 100;
  char* at = static_cast<char*>(data);
  for (int waited = 0; size > 0;) {
    // A cancel is a flag set by a signal handler, which cannot wake us; so look at it now and then.
    pollfd waiting{socket_, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kSliceMs);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) {
      waited += kSliceMs;
      stopped_ = cancelled_ && cancelled_();
      silent_ = waited >= kPatienceSeconds * 1000;
      if (stopped_ || silent_) return false;
      continue;
    }
    const ssize_t n = ::recv(socket_, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    waited = 0;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Why there was no answer. The helper is gone afterwards.
Error Reader::obituary(const std::string& path) {
  constexpr const char* kRemedy = "the file is damaged; h5dump may say where";
  Error out{ErrorCode::crashed, "its reader stopped answering", path, kRemedy};
  if (stopped_) {
    out = {ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped", "", ""};
  } else if (silent_) {
    out.what = fmt::format("its reader made no progress for {} s and was stopped", kPatienceSeconds);
  } else {
    // The socket is closed before the process is gone.
    int status = 0;
    pid_t gone = 0;
    for (int waited = 0; waited < 2000 && (gone = ::waitpid(pid_, &status, WNOHANG)) == 0; waited += 10) {
      ::usleep(10'000);
    }
    if (gone == pid_) {
      pid_ = -1;
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        out = {ErrorCode::out_of_memory, "its reader was killed, which the system does when memory runs out", path,
               "allow less with --memory"};
      } else if (WIFSIGNALED(status)) {
        out.what = fmt::format("the HDF5 library crashed on it ({})", ::strsignal(WTERMSIG(status)));
      }
    }
  }
  stop();
  return out;
}

Outcome<Reader::Reply> Reader::ask(helper::Request request, const std::string& path, const std::string& name,
                                   double* values) {
  const std::lock_guard lock(mutex_);
  // One that died while it was idle is no fault of this file's.
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) {
    pid_ = -1;
    stop();
  }
  if (pid_ < 0 && !start()) {
    return Error{ErrorCode::unavailable, "the helper millrace-hdf5 cannot be started", path,
                 "check that it lies beside the millrace program"};
  }
  request.path_bytes = static_cast<std::uint32_t>(path.size());
  request.dataset_bytes = static_cast<std::uint32_t>(name.size());
  Reply out;
  if (!send(&request, sizeof request) || !send(path.data(), path.size()) || !send(name.data(), name.size()) ||
      !receive(&out.about, sizeof out.about)) {
    return obituary(path);
  }
  const std::uint64_t wanted =
      request.kind == helper::Kind::read && out.about.error_code == helper::kDone ? request.count * request.columns : 0;
  if (out.about.text_bytes > 2 * helper::kMostText || out.about.values != wanted) {
    stop();
    return Error{ErrorCode::crashed, "its reader sent nonsense", path, ""};
  }
  out.text.resize(out.about.text_bytes);
  if (!receive(out.text.data(), out.text.size()) || !receive(values, wanted * sizeof(double))) return obituary(path);
  if (out.about.error_code == helper::kDone) return out;
  const std::size_t end = std::min(out.text.find('\0'), out.text.size());
  const std::string remedy = end < out.text.size() ? out.text.substr(end + 1) : "";
  const auto code = static_cast<ErrorCode>(out.about.error_code);
  const bool known = code == ErrorCode::unsupported || code == ErrorCode::out_of_memory;
  return Error{known ? code : ErrorCode::bad_data, printable(out.text.substr(0, end)),
               name.empty() ? path : path + ":" + name, printable(remedy)};
}

Outcome<std::vector<std::string>> Reader::datasets(const std::string& path) {
  helper::Request request{};
  request.kind = helper::Kind::list;
  request.memory_limit = kLookingMemory.count;
  const auto reply = ask(request, path, "", nullptr);
  if (!reply) return reply.error();
  std::vector<std::string> out = split(reply->text, '\0');
  if (!out.empty()) out.pop_back();
  return out;
}

Outcome<Series> Reader::describe(const std::string& path, const std::string& name) {
  helper::Request request{};
  request.kind = helper::Kind::describe;
  request.memory_limit = kLookingMemory.count;
  const auto reply = ask(request, path, name, nullptr);
  if (!reply) return reply.error();
  const helper::Answer& about = reply->about;
  if (about.dimensions < 1 || about.dimensions > 3 || about.chunk_bytes > std::uint64_t{1} << 48) {
    return Error{ErrorCode::crashed, "its reader sent nonsense", path, ""};
  }
  // A row of chunks stays; one chunk is also there as it lies in the file, and once more between two filters.
  return Series{
      name, {about.shape, about.shape + about.dimensions}, reply->text, kIdleMemory + Bytes{3 * about.chunk_bytes}};
}

void Reader::read(const std::string& path, const Series& series, std::size_t columns, std::uint64_t first,
                  std::size_t count, double* out) {
  helper::Request request{};
  request.kind = helper::Kind::read;
  request.columns = static_cast<std::uint32_t>(columns);
  request.first = first;
  request.count = count;
  request.memory_limit = (series.memory + kLookingMemory).count;
  const auto reply = ask(request, path, series.name, out);
  if (!reply) throw Failure(reply.error());
}

}  // namespace millrace::hdf5
