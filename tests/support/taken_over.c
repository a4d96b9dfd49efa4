// Preloaded: what somebody would try who has taken the program over by a file that it reads. Whenever the file that
// TAKEN_BY names is opened, it tries and writes what it came to into TAKEN_REPORT: a line for each attempt that succeeded.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

typedef int (*opens)(const char*, int, ...);
typedef int (*opens_at)(int, const char*, int, ...);
static __thread int trying;

static int opened(const char* path, int flags) {
  opens real = (opens)dlsym(RTLD_NEXT, "open");
  int fd = real(path, flags, 0600);
  if (fd < 0) return 0;
  // Some files of /proc are only refused when they are read.
  char byte;
  int done = (flags & O_ACCMODE) != O_RDONLY || read(fd, &byte, 1) == 1;
  close(fd);
  return done;
}

// Reads the file by a program of the system.
static int started(const char* program, const char* file) {
  char* words[] = {(char*)program, (char*)file, NULL};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid;
  char* nothing[] = {NULL};
  int status = 1;
  if (posix_spawn(&pid, program, &quiet, NULL, words, nothing) == 0) waitpid(pid, &status, 0);
  posix_spawn_file_actions_destroy(&quiet);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void attempt_all(void) {
  const char* secret = getenv("TAKEN_SECRET");  // a file in a folder that no run was given
  char text[4096] = "tried\n", path[4096];
#define REPORT(what, success) \
  if (success) strcat(text, what "\n")
  REPORT("read a file", opened(secret, O_RDONLY));
  REPORT("change a file", opened(secret, O_WRONLY));
  snprintf(path, sizeof path, "%s.new", secret);
  REPORT("make a file", opened(path, O_WRONLY | O_CREAT));
  REPORT("make a folder", mkdir(path, 0700) == 0);
  snprintf(path, sizeof path, "%s.link", secret);
  REPORT("link a file", link(secret, path) == 0);
  REPORT("rename a file", rename(secret, path) == 0 && rename(path, secret) == 0);
  REPORT("read a file by a program", started("/bin/cat", secret));
  REPORT("read root's secrets", opened("/etc/shadow", O_RDONLY));
  REPORT("change a mode", chmod(secret, 0666) == 0);
  REPORT("change an owner", chown(secret, geteuid(), getegid()) == 0);
  REPORT("change an attribute", setxattr(secret, "user.x", "y", 1, 0) == 0 || errno == ENOTSUP);
  const struct timeval early[2] = {{1, 0}, {1, 0}};
  REPORT("change a time", utimes(secret, early) == 0);
  REPORT("cut a file", truncate(secret, 3) == 0);
  opens make = (opens)dlsym(RTLD_NEXT, "open");
  snprintf(path, sizeof path, "%s.program", getenv("TAKEN_REPORT"));
  int program = make(path, O_WRONLY | O_CREAT, 04755);
  int quiet = make(getenv("TAKEN_REPORT"), O_WRONLY | O_CREAT, 0644);
  REPORT("make a program with the user's rights", program >= 0 || (quiet >= 0 && fchmod(quiet, 04755) == 0));
  if (program >= 0) close(program);
  if (quiet >= 0) close(quiet);
  unlink(path);
  REPORT("type into the terminal", ioctl(0, TIOCSTI, "x") == 0 || (errno != EACCES && errno != EPERM));
  REPORT("join shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0);
  int pair[2];
  REPORT("send to a name", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  struct rlimit same;
  REPORT("limit the caller", prlimit(getppid(), RLIMIT_NOFILE, NULL, &same) == 0 && prlimit(getppid(), RLIMIT_NOFILE, &same, NULL) == 0);
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  REPORT("get all capabilities", child > 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  REPORT("make a socket", fd >= 0);
  if (fd >= 0) close(fd);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  REPORT("make a local socket", fd >= 0);
  if (fd >= 0) close(fd);
  REPORT("signal the caller", kill(getppid(), 0) == 0);
  snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
  REPORT("open the caller's memory", opened(path, O_RDWR));
  snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
  REPORT("read the caller's environment", opened(path, O_RDONLY));
  opens real = (opens)dlsym(RTLD_NEXT, "open");
  fd = real(getenv("TAKEN_REPORT"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) {
    if (write(fd, text, strlen(text)) < 0) abort();
    close(fd);
  }
}

static void look(const char* path) {
  const char* by = getenv("TAKEN_BY");
  if (by == NULL || path == NULL || trying) return;
  const char* slash = strrchr(path, '/');
  if (strcmp(slash ? slash + 1 : path, by) != 0) return;
  int before = errno;
  trying = 1;
  attempt_all();
  trying = 0;
  errno = before;
}

#define MODE(flags, last)                       \
  mode_t mode = 0;                              \
  if ((flags) & (O_CREAT | O_TMPFILE)) {        \
    va_list more;                               \
    va_start(more, last);                       \
    mode = (mode_t)va_arg(more, int);           \
    va_end(more);                               \
  }
int open(const char* path, int flags, ...) {
  MODE(flags, flags)
  look(path);
  return ((opens)dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags, flags)
  look(path);
  return ((opens)dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE(flags, flags)
  look(path);
  return ((opens_at)dlsym(RTLD_NEXT, "openat"))(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE(flags, flags)
  look(path);
  return ((opens_at)dlsym(RTLD_NEXT, "openat64"))(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* how) {
  look(path);
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen"))(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  look(path);
  return ((FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen64"))(path, how);
}
DIR* opendir(const char* path) {
  look(path);
  return ((DIR * (*)(const char*)) dlsym(RTLD_NEXT, "opendir"))(path);
}
