// Input: a process that a program has started as its helper.
// Output: the process ends with the program, prints nothing, and takes no more memory than it may.
// Never: used in the program itself.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "src/base/version.h"
#include "src/io/process/child_process.h"

namespace millrace {

// Starts a helper, with the arguments of its main().
inline void initialize_helper(int count, char** arguments) {
  // A helper of another version would misread the messages.
  if (count != 2 || std::strcmp(arguments[1], version()) != 0) std::_Exit(kExitWrongVersion);
  // The program decides when its helpers end.
  std::signal(SIGINT, SIG_IGN);
  // The program's output is data, and messages that libraries print to stderr are not for its users.
  if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
}

// Ends the helper with the program. This starts the first thread of its own, so it is called inside the sandbox.
inline void end_with_program() {
  // A library may be busy for minutes when the program dies, whose death closes the socket. PR_SET_PDEATHSIG would not
  // do: it signals the end of the thread that started the helper, not of the program.
  const auto watch = [] {
    pollfd gone{kHelperSocket, POLLRDHUP, 0};
    while (::poll(&gone, 1, -1) < 0 && errno == EINTR) {
    }
    std::_Exit(0);
  };
  try {
    std::thread(watch).detach();
  } catch (const std::system_error&) {
    // Without a thread, the helper ends with its next request, or when the program asks it to.
  }
}

// Limits the memory that is written to, not the address space, of which libraries and thread stacks take gigabytes. 0:
// no limit. `for_good`: the program will not raise the limit later.
inline void limit_memory(std::uint64_t bytes, bool for_good) {
#ifdef MILLRACE_SANITIZED
  (void)bytes;
  (void)for_good;
#else
  rlimit bound{};
  if (bytes == 0 || ::getrlimit(RLIMIT_DATA, &bound) != 0) return;
  bound.rlim_cur = std::min<rlim_t>(bytes, bound.rlim_max);
  if (for_good) bound.rlim_max = bound.rlim_cur;
  ::setrlimit(RLIMIT_DATA, &bound);
#endif
}

}  // namespace millrace
