#include "src/io/process/helper/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "src/io/process/helper/landlock.h"

#ifndef MILLRACE_SANITIZED
#include <seccomp.h>

#include <memory>
#endif

namespace millrace {
namespace {

std::string reason() { return std::strerror(errno); }

constexpr std::uint32_t bit(int capability) { return std::uint32_t{1} << capability; }

// Changes the user id from root to nobody, because root's id alone opens root's files. RLIMIT_NPROC counts all threads
// of nobody, also those of other helpers, so it is lifted. The caller checks that the program may signal another user's
// process: it could not end the helper otherwise.
bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_NPROC, &unlimited);
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// The other layers of the sandbox hold even where the user id cannot be changed.
SandboxLayer drop_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3] = {}, left[_LINUX_CAPABILITY_U32S_3] = {};
  ::syscall(SYS_capget, &header, had);
  SandboxLayer out{"privileges", true, "no capabilities, and none can be gained"};
  if (::geteuid() == 0) {
    const bool nobody = (had[0].effective & bit(CAP_KILL)) != 0 && become_nobody();
    out.how += nobody ? ", runs as nobody" : ", but runs as root";
  }
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_capset, &header, left) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    out.is_active = false;
    out.how = reason();
  }
  return out;
}

SandboxLayer forbid_inspection() {
  const bool is_active = ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
  return {"memory", is_active, is_active ? "no other process can read it" : reason()};
}

// No file may be written. Shared memory is not affected, because it is written through its mapping. SIGXFSZ is ignored,
// so that a library that writes to a file gets an error and is not killed.
SandboxLayer set_limits() {
  std::signal(SIGXFSZ, SIG_IGN);
  SandboxLayer out{"limits", true, "no core file, no file written, 64 descriptors"};
  for (const auto& [what, most] : {std::pair(RLIMIT_CORE, 0), {RLIMIT_FSIZE, 0}, {RLIMIT_NOFILE, 64}}) {
    rlimit bound{};
    ::getrlimit(what, &bound);
    bound.rlim_cur = bound.rlim_max = std::min(static_cast<rlim_t>(most), bound.rlim_max);
    if (::setrlimit(what, &bound) == 0) continue;
    out.is_active = false;
    out.how = reason();
  }
  return out;
}

// Enforces a ruleset without rules: every access that Landlock controls is refused.
SandboxLayer close_files() {
  const std::string problem = Landlock().enforce();
  return {"files", problem.empty(), problem.empty() ? fmt::format("Landlock {}", Landlock::version()) : problem};
}

#ifndef MILLRACE_SANITIZED

// Seccomp filter. A call that has no rule returns ENOSYS by default, as if the kernel lacked it, so that libraries do
// without.
class Calls {
 public:
  Calls() : Calls(SCMP_ACT_ERRNO(ENOSYS)) {}
  explicit Calls(std::uint32_t others) : filter_(::seccomp_init(others), ::seccomp_release) {}

  void allow(int call) { add(SCMP_ACT_ALLOW, call, {}); }
  void allow(int call, const std::vector<scmp_arg_cmp>& where) { add(SCMP_ACT_ALLOW, call, where); }
  void leave_out(int call) { add(SCMP_ACT_ERRNO(ENOSYS), call, {}); }
  void refuse(int call, const std::vector<scmp_arg_cmp>& where = {}) { add(SCMP_ACT_ERRNO(EACCES), call, where); }

  SandboxLayer close() {
    if (filter_ == nullptr) return {"calls", false, "libseccomp cannot be initialized"};
    ::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    ::seccomp_attr_set(filter_.get(), SCMP_FLTATR_API_SYSRAWRC, 1);  // keeps the kernel's own errno
    if (error_ == 0) error_ = ::seccomp_load(filter_.get());
    if (error_ != 0) return {"calls", false, std::strerror(-error_)};
    return {"calls", true, fmt::format("seccomp, {} rules", count_)};
  }

 private:
  void add(std::uint32_t action, int call, const std::vector<scmp_arg_cmp>& where) {
    if (call < 0 || filter_ == nullptr) return;  // the architecture lacks the call
    const int error =
        ::seccomp_rule_add_array(filter_.get(), action, call, static_cast<unsigned>(where.size()), where.data());
    if (error != 0 && error_ == 0) error_ = error;
    ++count_;
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter_;
  int error_ = 0, count_ = 0;
};

scmp_arg_cmp equal(unsigned argument, std::uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

SandboxLayer close_calls() {
  Calls calls;
  for (const int call : {SCMP_SYS(read),
                         SCMP_SYS(pread64),
                         SCMP_SYS(readv),
                         SCMP_SYS(preadv),
                         SCMP_SYS(lseek),
                         SCMP_SYS(_llseek),
                         SCMP_SYS(close),
                         SCMP_SYS(fstat),
                         SCMP_SYS(dup),
                         SCMP_SYS(recvmsg),
                         SCMP_SYS(recvfrom),
                         SCMP_SYS(recv),
                         SCMP_SYS(sendto),
                         SCMP_SYS(send),
                         SCMP_SYS(poll),
                         SCMP_SYS(ppoll),
                         SCMP_SYS(futex),
                         SCMP_SYS(munmap),
                         SCMP_SYS(mremap),
                         SCMP_SYS(brk),
                         SCMP_SYS(madvise),
                         SCMP_SYS(set_robust_list),
                         SCMP_SYS(rseq),
                         SCMP_SYS(rt_sigprocmask),
                         SCMP_SYS(rt_sigaction),
                         SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(sigaltstack),
                         SCMP_SYS(exit),
                         SCMP_SYS(exit_group),
                         SCMP_SYS(sched_yield),
                         SCMP_SYS(sched_getaffinity),
                         SCMP_SYS(getrandom),
                         SCMP_SYS(gettid),
                         SCMP_SYS(getpid),
                         SCMP_SYS(sysinfo),
                         SCMP_SYS(clock_gettime),
                         SCMP_SYS(clock_getres),
                         SCMP_SYS(gettimeofday),
                         SCMP_SYS(time),
                         SCMP_SYS(nanosleep),
                         SCMP_SYS(clock_nanosleep),
                         SCMP_SYS(restart_syscall),
                         SCMP_SYS(uname),
                         SCMP_SYS(getcpu),
                         SCMP_SYS(membarrier)})
    calls.allow(call);
  // While a helper decodes, its standard streams lead to /dev/null.
  calls.allow(SCMP_SYS(write), {equal(0, STDOUT_FILENO)});
  calls.allow(SCMP_SYS(write), {equal(0, STDERR_FILENO)});
  // A process may signal itself, which abort() does.
  calls.allow(SCMP_SYS(tgkill), {equal(0, static_cast<std::uint64_t>(::getpid()))});
  // The C library uses this call for fstat(), with an empty path. A filter cannot see the path, so the sizes and times
  // of named files can be queried.
  calls.allow(SCMP_SYS(newfstatat), {masked(3, AT_EMPTY_PATH, AT_EMPTY_PATH)});
  // Threads are allowed, processes are not. The flags of clone3() are in memory; without it the C library uses clone().
  constexpr std::uint64_t kThread = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
  calls.allow(SCMP_SYS(clone), {masked(0, kThread, kThread)});
  calls.allow(SCMP_SYS(prctl), {equal(0, PR_SET_NAME)});
  // Limits may be read; the limit on memory may be set, up to the hard limit.
  calls.allow(SCMP_SYS(prlimit64), {equal(0, 0), equal(2, 0)});
  calls.allow(SCMP_SYS(prlimit64), {equal(0, 0), equal(1, RLIMIT_DATA)});
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC})
    calls.allow(SCMP_SYS(fcntl), {equal(1, static_cast<std::uint64_t>(command))});
  // Shared mappings, and stacks that grow down, would not count as memory. The shared memory is mapped already.
  const scmp_arg_cmp counted = masked(3, MAP_SHARED | MAP_GROWSDOWN, 0);
  // No new code may be mapped or made executable.
  calls.allow(SCMP_SYS(mmap), {masked(2, PROT_EXEC, 0), counted});
  calls.allow(SCMP_SYS(mmap2), {masked(2, PROT_EXEC, 0), counted});
  calls.allow(SCMP_SYS(mprotect), {masked(2, PROT_EXEC, 0)});
  return calls.close();
}

// Numbers of mount_setattr() and fchmodat2(), the same on every architecture. Some releases of libseccomp lack them.
constexpr int kSetMountAttributes = 442, kChangeModeAt2 = 452;

SandboxLayer refuse_calls() {
  Calls calls(SCMP_ACT_ALLOW);
  for (const int call :
       {// Sockets but the pair that leads to a helper.
        SCMP_SYS(socket), SCMP_SYS(socketcall), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
        SCMP_SYS(accept4),
        // Memory and queues of other processes.
        SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_getfd),
        SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd), SCMP_SYS(msgrcv),
        SCMP_SYS(msgctl), SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semctl), SCMP_SYS(mq_open), SCMP_SYS(setpriority),
        SCMP_SYS(ioprio_set),
        // Calls that change the kernel or its namespaces.
        SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(add_key), SCMP_SYS(request_key),
        SCMP_SYS(keyctl), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount), SCMP_SYS(open_tree),
        SCMP_SYS(fsopen), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), kSetMountAttributes,
        SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(swapon), SCMP_SYS(reboot),
        SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
        SCMP_SYS(kexec_file_load), SCMP_SYS(open_by_handle_at), SCMP_SYS(mknod), SCMP_SYS(mknodat),
        // Modes, owners, attributes and times, which Landlock does not check; and lengths, which its second version
        // does not check.
        SCMP_SYS(chmod), SCMP_SYS(fchmodat), kChangeModeAt2, SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchown),
        SCMP_SYS(fchownat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr),
        SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(utime), SCMP_SYS(utimes), SCMP_SYS(futimesat),
        SCMP_SYS(truncate)})
    calls.refuse(call);
  // Arguments of these calls are hidden from a filter. Libraries then use older calls, whose arguments are visible.
  for (const int call : {SCMP_SYS(io_uring_setup), SCMP_SYS(clone3), SCMP_SYS(openat2)}) calls.leave_out(call);
  // Modes and times of open files may change, but no file becomes a program that runs with its owner's rights.
  calls.refuse(SCMP_SYS(utimensat), {{1, SCMP_CMP_NE, 0, 0}});
  for (const std::uint64_t mode : {S_ISUID, S_ISGID}) {
    calls.refuse(SCMP_SYS(fchmod), {masked(1, mode, mode)});
    calls.refuse(SCMP_SYS(creat), {masked(1, mode, mode)});
    calls.refuse(SCMP_SYS(open), {masked(1, O_CREAT, O_CREAT), masked(2, mode, mode)});
    calls.refuse(SCMP_SYS(openat), {masked(2, O_CREAT, O_CREAT), masked(3, mode, mode)});
  }
  // Socket pairs of other types can send to sockets that have names.
  constexpr std::uint64_t kType = 0xf;
  for (const std::uint64_t type : {SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET})
    calls.refuse(SCMP_SYS(socketpair), {masked(1, kType, type)});
  // Input injected into the terminal would be run by the shell that waits there.
  constexpr std::uint64_t kWord = 0xffffffff;
  for (const std::uint64_t request : {TIOCSTI, TIOCLINUX, TIOCSETD})
    calls.refuse(SCMP_SYS(ioctl), {masked(1, kWord, request)});
  // Limits of other processes may not be set.
  calls.refuse(SCMP_SYS(prlimit64), {{0, SCMP_CMP_NE, 0, 0}, {2, SCMP_CMP_NE, 0, 0}});
  // A new user namespace would give back all capabilities.
  for (const std::uint64_t space :
       {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
    calls.refuse(SCMP_SYS(clone), {masked(0, space, space)});
  return calls.close();
}

#else

SandboxLayer close_calls() { return {"calls", false, "not available in a build with sanitizers"}; }
SandboxLayer refuse_calls() { return close_calls(); }

#endif

}  // namespace

std::vector<SandboxLayer> enter_helper_sandbox() {
  return {drop_privileges(), forbid_inspection(), set_limits(), close_files(), close_calls()};  // in this order
}

SandboxLayer refuse_dangerous_calls() { return refuse_calls(); }

SandboxLayer drop_capabilities() {
  constexpr std::uint32_t kKept = bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_KILL) | bit(CAP_SETGID) |
                                  bit(CAP_SETUID) | bit(CAP_SETPCAP);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    const bool kept = capability < 32 && (kKept & bit(static_cast<int>(capability))) != 0;
    if (!kept) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct powers[_LINUX_CAPABILITY_U32S_3] = {};
  bool is_active = ::syscall(SYS_capget, &header, powers) == 0;
  for (auto& some : powers) {
    const std::uint32_t kept = &some == powers ? kKept : 0;
    some.effective &= kept;
    some.permitted &= kept;
    some.inheritable = 0;
  }
  is_active = is_active && ::syscall(SYS_capset, &header, powers) == 0;
  return {"powers", is_active, is_active ? "only to read and write files and to start helpers" : reason()};
}

}  // namespace millrace
