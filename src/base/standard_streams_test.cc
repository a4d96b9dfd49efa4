#include "src/base/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

#include "include/millrace/error.h"

namespace millrace {
namespace {

// Runs `work` in a child process, in which descriptors may be closed, and returns its exit status.
int status_of(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int become(int fd, const char* path) { return ::dup2(::open(path, O_WRONLY), fd); }

TEST(StandardStreams, ClosedOnesAreNoOtherFilesNumber) {
  EXPECT_EQ(status_of([] {
              for (int fd = 0; fd < 3; ++fd) ::close(fd);
              open_standard_descriptors();
              for (int fd = 0; fd < 3; ++fd)
                if (::fcntl(fd, F_GETFD) < 0) return 1;
              return ::open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 2;
            }),
            0);
}

TEST(StandardStreams, StderrThatCannotBeWrittenIsNoFailure) {
  for (const bool closed : {false, true}) {
    EXPECT_EQ(status_of([&] {
                if (closed) {
                  ::close(STDERR_FILENO);
                } else {
                  become(STDERR_FILENO, "/dev/full");
                }
                write_stderr("lost");
                write_stderr("lost, too");
                return has_stderr() ? 1 : 0;
              }),
              0);
  }
}

TEST(StandardStreams, AReaderThatIsGoneIsNoFailure) {
  EXPECT_EQ(status_of([] {
              std::signal(SIGPIPE, SIG_IGN);
              int ends[2] = {};
              if (::pipe(ends) != 0) return 2;
              ::dup2(ends[1], STDERR_FILENO);
              ::close(ends[0]);
              ::close(ends[1]);
              write_stderr("lost");
              return 0;
            }),
            0);
}

TEST(StandardStreams, AFullPipeThatDoesNotBlockIsGivenUp) {
  EXPECT_EQ(status_of([] {
              int ends[2] = {};
              if (::pipe2(ends, O_NONBLOCK) != 0) return 2;
              ::dup2(ends[1], STDERR_FILENO);
              write_stderr(std::string(1 << 20, 'x'));
              return has_stderr() ? 1 : 0;
            }),
            0);
}

TEST(StandardStreams, StdoutThatCannotBeWrittenIsAFailureOfItsOwn) {
  EXPECT_EQ(status_of([] {
              become(STDOUT_FILENO, "/dev/full");
              try {
                write_stdout("lost");
              } catch (const Failure& failure) {
                return static_cast<int>(failure.error().code == ErrorCode::standard_output ? 0 : 1);
              }
              return 2;
            }),
            0);
}

}  // namespace
}  // namespace millrace
