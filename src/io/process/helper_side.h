// Input: a process that some program has started as its helper.
// Output: it ends with the program, prints nothing, and takes no more memory than it may.
// Never: used from the program itself.
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
#include "src/io/process/child.h"

namespace millrace {

// What a helper begins with, of its main()'s arguments.
inline void begin_helping(int count, char** arguments) {
  // Of another version it would take what it is sent for something else.
  if (count != 2 || std::strcmp(arguments[1], version()) != 0) std::_Exit(kOtherVersion);
  // It is the program that decides when its helpers go.
  std::signal(SIGINT, SIG_IGN);
  // The program's output is data, and what libraries print to stderr is for their authors.
  if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
}

// What ends it with the program: the first thread of its own, so behind its walls.
inline void end_with_program() {
  // A library may be at work for minutes when the program dies; its death closes the socket. (PR_SET_PDEATHSIG would
  // not do: it speaks of the thread that started the helper, not of the program.)
  const auto watch = [] {
    pollfd gone{kHelperSocket, POLLRDHUP, 0};
    while (::poll(&gone, 1, -1) < 0 && errno == EINTR) {
    }
    std::_Exit(0);
  };
  try {
    std::thread(watch).detach();
  } catch (const std::system_error&) {
    // No thread to be had: it ends with its next request, or when it is told to.
  }
}

// Bounds what is written to, not address space: libraries and the stacks of threads take gigabytes of that. 0: no
// limit. `for_good`: the program will not allow more later.
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
