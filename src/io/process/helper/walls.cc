#include "src/io/process/helper/walls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// Root is root by its number, too: its files are open to it. Nobody's threads are counted, and those of other helpers
// with them. A helper whose number its program may not signal could not be ended.
bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  ::setrlimit(RLIMIT_NPROC, &unlimited);
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// Where the number cannot be given up, the other walls stand.
Wall drop_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3] = {}, left[_LINUX_CAPABILITY_U32S_3] = {};
  ::syscall(SYS_capget, &header, had);
  Wall out{"privileges", true, "no capabilities, no new ones"};
  if (::geteuid() == 0) {
    const bool nobody = (had[0].effective & bit(CAP_KILL)) != 0 && become_nobody();
    out.how += nobody ? ", nobody's" : ", but root's number";
  }
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_capset, &header, left) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    out.stands = false;
    out.how = reason();
  }
  return out;
}

Wall forbid_looking_in() {
  const bool stands = ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
  return {"memory", stands, stands ? "no other process looks into it" : reason()};
}

// Shared memory is written through its mapping: nothing that has a size on disk. A library that writes to a file is
// refused, not killed.
Wall set_limits() {
  std::signal(SIGXFSZ, SIG_IGN);
  Wall out{"limits", true, "no core file, no file written, 64 descriptors"};
  for (const auto& [what, most] : {std::pair(RLIMIT_CORE, 0), {RLIMIT_FSIZE, 0}, {RLIMIT_NOFILE, 64}}) {
    rlimit bound{};
    ::getrlimit(what, &bound);
    bound.rlim_cur = bound.rlim_max = std::min(static_cast<rlim_t>(most), bound.rlim_max);
    if (::setrlimit(what, &bound) == 0) continue;
    out.stands = false;
    out.how = reason();
  }
  return out;
}

// A ruleset without rules: all that it handles is refused.
Wall close_files() {
  const std::string problem = Landlock().enforce();
  return {"files", problem.empty(), problem.empty() ? fmt::format("Landlock {}", Landlock::version()) : problem};
}

#ifndef MILLRACE_SANITIZED

// What decoding needs; everything else is answered as if the kernel did not have it, so that libraries do without.
class Calls {
 public:
  Calls() : Calls(SCMP_ACT_ERRNO(ENOSYS)) {}
  explicit Calls(std::uint32_t others) : filter_(::seccomp_init(others), ::seccomp_release) {}

  void allow(int call) { add(SCMP_ACT_ALLOW, call, {}); }
  void allow(int call, const std::vector<scmp_arg_cmp>& where) { add(SCMP_ACT_ALLOW, call, where); }
  void refuse(int call) { add(SCMP_ACT_ERRNO(EACCES), call, {}); }

  Wall close() {
    if (filter_ == nullptr) return {"calls", false, "libseccomp cannot begin"};
    ::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    ::seccomp_attr_set(filter_.get(), SCMP_FLTATR_API_SYSRAWRC, 1);  // the kernel's own reason
    if (error_ == 0) error_ = ::seccomp_load(filter_.get());
    if (error_ != 0) return {"calls", false, std::strerror(-error_)};
    return {"calls", true, fmt::format("seccomp, {} rules", count_)};
  }

 private:
  void add(std::uint32_t action, int call, const std::vector<scmp_arg_cmp>& where) {
    if (call < 0 || filter_ == nullptr) return;  // not of this architecture
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

Wall close_calls() {
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
  // Its standard streams lead nowhere.
  calls.allow(SCMP_SYS(write), {equal(0, STDOUT_FILENO)});
  calls.allow(SCMP_SYS(write), {equal(0, STDERR_FILENO)});
  // A death of its own, told by its number.
  calls.allow(SCMP_SYS(tgkill), {equal(0, static_cast<std::uint64_t>(::getpid()))});
  // What fstat() is to the C library. A filter does not see the path, which is to be empty: sizes and times of names
  // can be asked for.
  calls.allow(SCMP_SYS(newfstatat), {masked(3, AT_EMPTY_PATH, AT_EMPTY_PATH)});
  // Threads, and no processes. clone3() has its flags in memory; without it the C library takes clone().
  constexpr std::uint64_t kThread = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
  calls.allow(SCMP_SYS(clone), {masked(0, kThread, kThread)});
  calls.allow(SCMP_SYS(prctl), {equal(0, PR_SET_NAME)});
  // To ask, and what memory it may take, within its hard limit.
  calls.allow(SCMP_SYS(prlimit64), {equal(0, 0), equal(2, 0)});
  calls.allow(SCMP_SYS(prlimit64), {equal(0, 0), equal(1, RLIMIT_DATA)});
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC})
    calls.allow(SCMP_SYS(fcntl), {equal(1, static_cast<std::uint64_t>(command))});
  // What is shared, or grows down as a stack, is not counted as memory. Shared memory has been mapped.
  const scmp_arg_cmp counted = masked(3, MAP_SHARED | MAP_GROWSDOWN, 0);
  // No code that was not there.
  calls.allow(SCMP_SYS(mmap), {masked(2, PROT_EXEC, 0), counted});
  calls.allow(SCMP_SYS(mmap2), {masked(2, PROT_EXEC, 0), counted});
  calls.allow(SCMP_SYS(mprotect), {masked(2, PROT_EXEC, 0)});
  return calls.close();
}

Wall close_sockets() {
  Calls calls(SCMP_ACT_ALLOW);
  for (const int call : {SCMP_SYS(socket),
                         SCMP_SYS(socketcall),
                         SCMP_SYS(io_uring_setup),
                         SCMP_SYS(ptrace),
                         SCMP_SYS(process_vm_readv),
                         SCMP_SYS(process_vm_writev),
                         SCMP_SYS(pidfd_getfd),
                         SCMP_SYS(bpf),
                         SCMP_SYS(perf_event_open),
                         SCMP_SYS(userfaultfd),
                         SCMP_SYS(add_key),
                         SCMP_SYS(request_key),
                         SCMP_SYS(keyctl),
                         SCMP_SYS(mount),
                         SCMP_SYS(umount2),
                         SCMP_SYS(move_mount),
                         SCMP_SYS(open_tree),
                         SCMP_SYS(pivot_root),
                         SCMP_SYS(chroot),
                         SCMP_SYS(unshare),
                         SCMP_SYS(setns),
                         SCMP_SYS(swapon),
                         SCMP_SYS(reboot),
                         SCMP_SYS(init_module),
                         SCMP_SYS(finit_module),
                         SCMP_SYS(delete_module),
                         SCMP_SYS(kexec_load),
                         SCMP_SYS(kexec_file_load),
                         SCMP_SYS(open_by_handle_at)})
    calls.refuse(call);
  return calls.close();
}

#else

Wall close_calls() { return {"calls", false, "left out of a build with sanitizers"}; }
Wall close_sockets() { return close_calls(); }

#endif

}  // namespace

std::vector<Wall> put_up_walls() {
  return {drop_privileges(), forbid_looking_in(), set_limits(), close_files(), close_calls()};  // in this order
}

Wall close_network() { return close_sockets(); }

Wall give_up_powers() {
  constexpr std::uint32_t kKept = bit(CAP_CHOWN) | bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) |
                                  bit(CAP_FSETID) | bit(CAP_KILL) | bit(CAP_SETGID) | bit(CAP_SETUID) |
                                  bit(CAP_SETPCAP) | bit(CAP_SYS_RESOURCE);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    const bool kept = capability < 32 && (kKept & bit(static_cast<int>(capability))) != 0;
    if (!kept) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct powers[_LINUX_CAPABILITY_U32S_3] = {};
  bool stands = ::syscall(SYS_capget, &header, powers) == 0;
  for (auto& some : powers) {
    const std::uint32_t kept = &some == powers ? kKept : 0;
    some.effective &= kept;
    some.permitted &= kept;
    some.inheritable = 0;
  }
  stands = stands && ::syscall(SYS_capset, &header, powers) == 0;
  return {"powers", stands, stands ? "those over files alone" : reason()};
}

}  // namespace millrace
