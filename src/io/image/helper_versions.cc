#include "src/io/image/helper_versions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/file/directory_entry.h"
#include "src/io/process/helper_path.h"
#include "src/io/process/spawn.h"

namespace millrace {
namespace {

constexpr auto kTimeout = std::chrono::seconds(20);
constexpr std::size_t kMaxOutputBytes = 64 << 10;
constexpr const char* kPackages = "install libvips42, libraw20 and libgif7";

// Reads everything that the program writes to stdout or stderr; false when it neither ends nor stops writing in time.
bool read_all(int fd, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  char block[4096];
  while (text.size() < kMaxOutputBytes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t n = ::read(fd, block, sizeof(block));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    text.append(block, static_cast<std::size_t>(n));
  }
  return false;
}

}  // namespace

Outcome<HelperVersions> query_helper_versions(const std::string& program) {
  const std::string subject = escape_unprintable(program);
  if (::access(program.c_str(), X_OK) != 0) {
    return Error{ErrorCode::unavailable, "the decoding helper was not found", subject,
                 helper_remedy(program.substr(program.rfind('/') + 1))};
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("a pipe cannot be created", subject, errno);
  const Descriptor ours(ends[0]);
  pid_t pid = -1;
  int failed = 0;
  {
    const Descriptor theirs(ends[1]);
    const std::array<std::string, 1> option = {"--versions"};
    const std::array<std::pair<int, int>, 2> given = {{{ends[1], STDOUT_FILENO}, {ends[1], STDERR_FILENO}}};
    failed = spawn(program, option, given, pid);
  }
  if (failed != 0) {
    Error error = system_error("the decoding helper cannot be started", subject, failed);
    error.code = ErrorCode::unavailable;
    return error;
  }
  std::string text;
  const bool ended = read_all(ours.get(), text);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }

  HelperVersions answer;
  std::string complaint;
  for (const std::string& line : split(text, '\n')) {
    const auto json = Json::parse_or_null(line);
    if (json.is_object()) {
      try {
        if (json.contains("wall")) {
          answer.sandbox_layers.push_back(
              {json.at("wall").text(), json.at("stands").get<bool>(), json.at("how").text()});
        } else {
          answer.libraries.push_back(
              {json.at("library").text(), json.at("version").text(), json.at("reads").get<std::vector<std::string>>()});
        }
      } catch (const Json::Error&) {
        complaint = line;
      }
    } else if (!trim(line).empty()) {
      complaint = line;  // output of the dynamic linker or of a library
    }
  }
  const std::string output = complaint.empty() ? "" : ": " + escape_unprintable(complaint);
  if (!ended) return Error{ErrorCode::crashed, "the decoding helper did not answer in time", subject, kPackages};
  if (WIFSIGNALED(status)) {
    return Error{ErrorCode::crashed,
                 fmt::format("the decoding helper crashed ({}){}", strsignal(WTERMSIG(status)), output), subject,
                 kPackages};
  }
  if (WEXITSTATUS(status) != 0 || answer.libraries.empty()) {
    return Error{ErrorCode::crashed,
                 fmt::format("the decoding helper stopped with exit code {}{}", WEXITSTATUS(status), output), subject,
                 kPackages};
  }
  return answer;
}

}  // namespace millrace
