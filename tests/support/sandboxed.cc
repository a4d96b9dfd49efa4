// A helper that was taken over: behind its walls it tries what its captor would, and says what the system answered.
#include <fcntl.h>
#include <linux/limits.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "src/io/process/helper/sandbox.h"
#include "src/io/process/helper_startup.h"
#include "src/io/process/socket_bytes.h"

namespace {

std::string report;

// Records an attempt that succeeded; refused attempts are not recorded.
void attempt(const char* what, bool done) {
  if (done) report += std::string(what) + "\n";
}

void try_everything(const char* writable) {
  attempt("open a file", ::open("/etc/passwd", O_RDONLY) >= 0);
  attempt("open its own memory", ::open("/proc/self/mem", O_RDWR) >= 0);
  attempt("open the program's memory", ::open(("/proc/" + std::to_string(::getppid()) + "/mem").c_str(), O_RDWR) >= 0);
  attempt("read the program's memory",
          ::open(("/proc/" + std::to_string(::getppid()) + "/mem").c_str(), O_RDONLY) >= 0);
  attempt("make a file", ::open(writable, O_CREAT | O_WRONLY, 0600) >= 0);
  attempt("truncate a file", ::truncate(writable, 0) == 0);
  attempt("make a folder", ::mkdir((std::string(writable) + "-folder").c_str(), 0700) == 0);
  attempt("remove a file", ::unlink(writable) == 0);
  attempt("rename a file", ::rename(writable, (std::string(writable) + "-2").c_str()) == 0);
  attempt("link a file", ::link("/etc/passwd", (std::string(writable) + "-3").c_str()) == 0);
  attempt("change a mode", ::chmod(writable, 0777) == 0);
  const int network = ::socket(AF_INET, SOCK_STREAM, 0), local = ::socket(AF_UNIX, SOCK_STREAM, 0);
  attempt("make a socket", network >= 0 || local >= 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(80);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  attempt("connect",
          ::connect(network, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0 || errno == ECONNREFUSED);
  if (const pid_t child = ::fork(); child == 0) {
    ::_exit(0);
  } else {
    attempt("fork", child > 0);
  }
  attempt("trace the program", ::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr) == 0);
  attempt("signal the program", ::kill(::getppid(), 0) == 0);
  attempt("map code", ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  attempt("share memory",
          ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  attempt("be root again", ::setuid(0) == 0 && ::geteuid() == 0);
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  attempt("lift a limit", ::setrlimit(RLIMIT_FSIZE, &all) == 0);
  char* arguments[] = {nullptr};
  ::execve("/bin/true", arguments, arguments);  // does not come back where it may
}

}  // namespace

int main(int argc, char** argv) {
  using namespace millrace;
  initialize_helper(argc, argv);
  enter_helper_sandbox();
  end_with_program();
  // Path, chosen by the program, that this process may write to.
  std::uint32_t size = 0;
  if (!receive_bytes(kHelperSocket, &size, sizeof size)) return 1;
  // Imitates a file that keeps a decoder busy forever.
  for (volatile bool busy = size > PATH_MAX; busy;) {
  }
  std::string writable(size, '\0');
  if (!receive_bytes(kHelperSocket, writable.data(), size)) return 1;
  // Allowed actions: computing, threads, memory, and an answer.
  std::thread([&] { try_everything(writable.c_str()); }).join();
  std::string memory(std::size_t{8} << 20, 'm');
  report += memory.substr(0, 1);
  size = static_cast<std::uint32_t>(report.size());
  send_bytes(kHelperSocket, &size, sizeof size);
  send_bytes(kHelperSocket, report.data(), size);
  receive_bytes(kHelperSocket, &size, sizeof size);  // until the program has looked at it
  return 0;
}
