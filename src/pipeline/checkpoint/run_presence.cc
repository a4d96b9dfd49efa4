#include "src/pipeline/checkpoint/run_presence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <system_error>

#include "src/base/log.h"
#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/folder_names.h"
#include "src/io/file/positional_io.h"

namespace millrace {
namespace {

constexpr std::string_view kRun = "run-", kLive = ".live", kClaim = "claim-";
constexpr std::size_t kMaxText = 4096;
constexpr std::array<const char*, 3> kModes = {"shared", "alone", "last"};  // indexed by RunPresence::Mode
constexpr std::size_t kHeartbeatBytes = 21;                                 // 20 digits and the end of the line

std::string read_small_file(int fd) {
  std::string out(kMaxText, '\0');
  out.resize(read_at(fd, 0, std::as_writable_bytes(std::span(out))));
  return out;
}
std::string read_small_file(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = state_of_descriptor(file.get());
  return state && state->regular ? read_small_file(file.get()) : "";
}

// Returns an ID of this boot of the machine: within one boot, locks and process numbers can be trusted. Empty if there
// is none.
std::string read_boot_id() {
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  return file ? std::string(trim(read_small_file(file.get()))) : "";
}

// Returns the machine ID, which survives reboots; hashed, as it is confidential. Copies of one machine have the same
// ID, but not the same name.
std::string read_machine_id() {
  const Descriptor file(::open("/etc/machine-id", O_RDONLY | O_CLOEXEC));
  const std::string id = file ? read_small_file(file.get()) : "";
  if (id.empty()) return "";
  return fmt::format("{:016x}", short_hash(std::span(reinterpret_cast<const std::uint8_t*>(id.data()), id.size())));
}

// Returns the namespace of process numbers: those of another container mean other processes here.
std::string read_pid_namespace() {
  char name[64] = {};
  const ssize_t length = ::readlink("/proc/self/ns/pid", name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "";
}

// Returns when a process began, which distinguishes it from a later one with its number. Empty if there is none, and
// for one that has ended. A number stays in use until the parent asks for the exit code, which some parents never do.
std::string read_start_time(const std::string& pid) {
  const Descriptor file(::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  // The fields follow the name, which may hold anything. proc(5) counts fields from 1, and the name is the second.
  const std::string text = read_small_file(file.get());
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return "";
  constexpr std::size_t kState = 3 - 2, kStart = 22 - 2;
  const std::vector<std::string> fields = split(text.substr(end + 1), ' ');
  const bool is_there = fields.size() > kStart && fields[kState] != "Z" && fields[kState] != "X";
  return is_there ? fields[kStart] : "";
}

// Returns the line of a run's file that identifies the run; its number is on the line before.
std::string describe_run(RunPresence::Mode mode) {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{} {} {} {} {} {} {}", kModes[static_cast<std::size_t>(mode)], read_boot_id(),
                     read_pid_namespace(), pid, read_start_time(pid), read_machine_id(), host_name());
}

std::string random_id() {
  std::uint64_t random[2] = {};
  if (::getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    random[0] = static_cast<std::uint64_t>(::getpid());
    random[1] = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return fmt::format("{:016x}{:016x}", random[0], random[1]);
}

bool lock_file(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

// Returns true if another open file holds the lock that a run has on its own file.
bool is_locked(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace

std::string machine_name() { return fmt::format("{} {} {}", host_name(), read_machine_id(), read_boot_id()); }

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return replace_invalid_utf8(name);
}

struct RunPresence::Run {
  std::string id, mode, boot, processes, pid, start, machine, host, number;
  bool locked = false;

  std::string words() const {
    return fmt::format("process {} on {}", escape_unprintable(pid), escape_unprintable(host));
  }
};

bool RunPresence::is_claim_of_shard(const std::string& name) {
  return name.starts_with(kClaim) && name.find_first_not_of("0123456789", kClaim.size()) == std::string::npos;
}
bool RunPresence::is_claim(const std::string& name) { return name.starts_with(kClaim); }
bool RunPresence::is_presence_file(const std::string& name) {
  return (name.starts_with(kRun) && name.ends_with(kLive)) || is_claim(name);
}

std::string RunPresence::name_of(const std::string& id) const { return fmt::format("{}{}{}", kRun, id, kLive); }

RunPresence::RunPresence(int folder, Mode mode, const Timing& timing)
    : folder_(folder), mode_(mode), timing_(timing), id_(random_id()) {
  // A file without a name comes first: a run that is killed here then leaves nothing.
  file_ = Descriptor(::openat(folder_, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0644));
  if (!file_ || !publish_file("")) {
    const std::string temporary = unique_temporary_name();
    constexpr int kHow = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_ = Descriptor(::openat(folder_, temporary.c_str(), kHow, 0644));
    if (!file_ || !publish_file(temporary)) {
      const int number = errno;
      if (file_) ::unlinkat(folder_, temporary.c_str(), 0);
      throw Failure(system_error("the file that shows an active run cannot be written", name_of(id_), number));
    }
  }
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error& error) {
    ::unlinkat(folder_, name_of(id_).c_str(), 0);
    throw Failure(ErrorCode::io,
                  fmt::format("no thread can be started to show that the run is active: {}", error.what()),
                  name_of(id_), "end other programs, or raise the limit on processes");
  }
}

// Writes all of the file, then gives it its name. False with errno.
bool RunPresence::publish_file(const std::string& temporary) {
  lock_file(file_.get());
  // The text follows the number, which is written again and again.
  const std::string text = describe_run(mode_) + "\n";
  if (!write_at(file_.get(), kHeartbeatBytes, std::as_bytes(std::span(text)))) return false;
  write_heartbeat();
  const std::string name = name_of(id_);
  if (!temporary.empty()) return ::renameat(folder_, temporary.c_str(), folder_, name.c_str()) == 0;
  const std::string open_file = fmt::format("/proc/self/fd/{}", file_.get());
  return ::linkat(AT_FDCWD, open_file.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

RunPresence::~RunPresence() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
  for (const std::string& name : claims_) {
    if (read_claim(name) == id_) ::unlinkat(folder_, name.c_str(), 0);
  }
  ::unlinkat(folder_, name_of(id_).c_str(), 0);
}

void RunPresence::write_heartbeat() {
  char text[kHeartbeatBytes + 1] = {};
  *fmt::format_to_n(text, kHeartbeatBytes, "{:020}\n", heartbeats_++).out = '\0';
  // The number is synced, so that other machines see it: they read what the server has.
  if (write_at(file_.get(), 0, std::as_bytes(std::span(text, kHeartbeatBytes)))) ::fdatasync(file_.get());
}

void RunPresence::loop() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    stop_.wait_for(lock, timing_.heartbeat);
    if (!stopping_) write_heartbeat();
  }
}

// Returns nullopt if there is no such file, or it is not a regular one.
std::optional<RunPresence::Run> RunPresence::read(const std::string& name) const {
  const Descriptor file(::openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const auto state = state_of_descriptor(file.get());
  if (!state || !state->regular) return std::nullopt;
  const std::vector<std::string> lines = split(read_small_file(file.get()), '\n');
  Run out;
  out.id = name.substr(kRun.size(), name.size() - kRun.size() - kLive.size());
  out.locked = is_locked(file.get());
  out.number = lines.front();
  const std::vector<std::string> words = lines.size() > 1 ? split(lines[1], ' ') : std::vector<std::string>();
  constexpr std::size_t kWords = 7;
  // A truncated file: only its number shows whether its run is alive.
  if (words.size() < kWords) return out;
  std::string* const to[] = {&out.mode, &out.boot, &out.processes, &out.pid, &out.start, &out.machine, &out.host};
  for (std::size_t i = 0; i < kWords; ++i) *to[i] = words[i];
  return out;
}

RunPresence::Others RunPresence::state_of(const Run& run) {
  const auto now = std::chrono::steady_clock::now();
  if (!run.boot.empty() && run.boot == read_boot_id()) {
    if (run.locked) return Others::live;
    // Only the number shows whether a run in another container is alive.
    if (run.processes == read_pid_namespace()) {
      return !run.start.empty() && run.start == read_start_time(run.pid) ? Others::live : Others::none;
    }
  }
  // The machine was started anew since, and its processes were not. Host names must agree, and many are localhost.
  const bool is_before = !run.boot.empty() && !read_boot_id().empty() && run.boot != read_boot_id() &&
                         !run.machine.empty() && run.machine == read_machine_id() && run.host == host_name() &&
                         !run.host.starts_with("localhost");
  if (is_before) return Others::none;
  const auto [at, first] = seen_.try_emplace(run.id, Seen{run.number, now, false});
  if (at->second.number != run.number) at->second = {run.number, now, true};
  if (now - at->second.since >= timing_.dead_after) return Others::none;
  return at->second.has_changed ? Others::live : Others::unknown;
}

RunPresence::Others RunPresence::find_others() {
  const MutexLock lock(runs_mutex_);
  Others out = Others::none;
  for (const std::string& name : list_names(folder_)) {
    if (!name.starts_with(kRun) || !name.ends_with(kLive) || name == name_of(id_)) continue;
    const auto run = read(name);
    if (!run || (mode_ == Mode::shared && run->mode == "shared") || (mode_ == Mode::last && run->mode == "last"))
      continue;
    const Others state = state_of(*run);
    if (state == Others::none) {
      ::unlinkat(folder_, name.c_str(), 0);
      continue;
    }
    other_ = run->words();
    other_is_alone_ = run->mode == "alone";
    if (state == Others::live) return state;
    out = Others::unknown;
  }
  return out;
}

std::string RunPresence::other() const {
  const MutexLock lock(runs_mutex_);
  return other_;
}

bool RunPresence::other_is_alone() const {
  const MutexLock lock(runs_mutex_);
  return other_is_alone_;
}

void RunPresence::pause(const std::function<void()>& check_cancelled) const {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  if (check_cancelled) check_cancelled();
  std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(kBetween, timing_.heartbeat));
}

void RunPresence::log_waiting() const {
  spdlog::warn("{} may be working on the same output: waiting up to {} s to see whether it is still active", other(),
               std::chrono::duration_cast<std::chrono::seconds>(timing_.dead_after).count());
}

RunPresence::Others RunPresence::wait_for_others(const std::function<void()>& check_cancelled) {
  Others out = find_others();
  if (out == Others::unknown) log_waiting();
  for (; out == Others::unknown; out = find_others()) pause(check_cancelled);
  return out;
}

std::string RunPresence::read_claim(const std::string& name) const {
  return std::string(trim(read_small_file(folder_, name)));
}

// Creates a claim that has its text from its first moment on.
bool RunPresence::put_claim(const std::string& name, const std::optional<FileState>& dead) const {
  const std::string temporary = unique_temporary_name();
  const Descriptor file(
      ::openat(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  const std::string text = id_ + "\n";
  bool done = file && write_at(file.get(), 0, std::as_bytes(std::span(text)));
  bool lost = false;
  if (done && dead) done = rename_over(folder_, temporary.c_str(), folder_, name.c_str(), *dead, lost) == 0;
  if (done && !dead) done = rename_new(folder_, temporary.c_str(), folder_, name.c_str()) == 0;
  // The temporary name is now that of the dead run's claim, or still that of this run's.
  ::unlinkat(folder_, temporary.c_str(), 0);
  return done && read_claim(name) == id_;
}

RunPresence::Claim RunPresence::claim(const std::string& what) {
  const std::string name = fmt::format("{}{}", kClaim, what);
  bool mine = put_claim(name, std::nullopt);
  if (!mine) {
    // The state is read before the owner: of two runs that find the owner dead, only one can replace that file.
    const auto seen = state_of_name(folder_, name);
    const std::string owner = read_claim(name);
    if (owner == id_) return Claim::mine;
    const MutexLock lock(runs_mutex_);
    const auto run = owner.empty() ? std::nullopt : read(name_of(owner));
    // A run whose file is gone has ended. A claim without its text was cut by a crash.
    const Others state = run ? state_of(*run) : Others::none;
    if (state != Others::none) {
      other_ = run->words();
      return state == Others::live ? Claim::taken : Claim::unknown;
    }
    mine = put_claim(name, seen);
  }
  if (!mine) return Claim::taken;
  const MutexLock lock(runs_mutex_);
  claims_.push_back(name);
  return Claim::mine;
}

bool RunPresence::wait_and_claim(const std::string& what, const std::function<void()>& check_cancelled) {
  Claim out = claim(what);
  if (out == Claim::unknown) log_waiting();
  for (; out == Claim::unknown; out = claim(what)) pause(check_cancelled);
  return out == Claim::mine;
}

void RunPresence::release_claim(const std::string& what) {
  const std::string name = fmt::format("{}{}", kClaim, what);
  const MutexLock lock(runs_mutex_);
  const auto at = std::find(claims_.begin(), claims_.end(), name);
  if (at == claims_.end()) return;
  claims_.erase(at);
  if (read_claim(name) == id_) ::unlinkat(folder_, name.c_str(), 0);
}

}  // namespace millrace
