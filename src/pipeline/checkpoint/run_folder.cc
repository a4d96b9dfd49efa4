#include "src/pipeline/checkpoint/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/folder_names.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace {
namespace {

constexpr unsigned kOthersWrite = 022;

std::string strip_slashes(std::string name) {
  while (name.size() > 1 && name.ends_with("/")) name.pop_back();
  return name;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool is_partial(const std::string& name) { return name.starts_with(AtomicFile::kTemporaryPrefix); }

// Returns true for the file that says how many runs share a folder.
bool is_runs_file(int folder, const std::string& name) {
  return name == kRunsFile && read_runs_file(fmt::format("/proc/self/fd/{}/{}", folder, name)).ok();
}

// Returns true if the folder has run.json or nothing but these files. A run that was killed before run.json had its
// name leaves no others. Neither does a run that begins now, or one that saw no lock of a run that removed the folder.
bool is_run_folder(int folder) {
  const std::vector<std::string> names = list_names(folder);
  return std::find(names.begin(), names.end(), RunFolder::kRunFile) != names.end() ||
         std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return is_partial(name) || RunPresence::is_presence_file(name) || name == RunFolder::kLock ||
                  name == kShardsFile || is_runs_file(folder, name);
         });
}

// Returns true if a file has names outside of the folder. If a file system cannot rename without replacing, a file has
// two names here for a moment. It keeps both if its run is killed then, until another run comes.
bool has_names_elsewhere(int top, int folder, const std::string& name) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    struct stat info {
    }, other{};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || info.st_nlink < 2) return false;
    nlink_t here = 0;
    const auto count = [&](int in) {
      for (const std::string& entry : list_names(in)) {
        if (::fstatat(in, entry.c_str(), &other, AT_SYMLINK_NOFOLLOW) == 0 && other.st_ino == info.st_ino &&
            other.st_dev == info.st_dev)
          ++here;
      }
    };
    count(folder);
    // A shard comes from a temporary name at the top of the folder.
    if (here < info.st_nlink && folder != top) count(top);
    if (here == info.st_nlink) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// Refuses links and second names, which no run makes. Others may have put them there while the folder was open to them;
// closing it does not remove them.
void refuse_foreign_files(int top, int folder, const std::string& name, const std::string& whole) {
  const auto refuse = [&](const std::string& what) {
    throw Failure(ErrorCode::conflict, fmt::format("it contains {}, which {}", escape_unprintable(name), what),
                  escape_unprintable(whole), "give another OUTPUT, or remove this folder");
  };
  const auto state = state_of_descriptor(folder);
  if (!state || state->owner != ::geteuid()) refuse("belongs to another user");
  // Without modes in the file system nobody is kept out by them, and this changes nothing.
  if ((state->mode & kOthersWrite) != 0) ::fchmod(folder, state->mode & ~kOthersWrite);
  for (const std::string& entry : list_names(folder)) {
    const std::string path = join_path(name, entry);
    struct stat info {};
    if (::fstatat(folder, entry.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      const Descriptor inner(::openat(folder, entry.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      // ENOENT: another run that shares the folder has just finished it.
      if (!inner && errno == ENOENT) continue;
      if (!inner) throw Failure(system_error("it cannot be opened", escape_unprintable(path), errno));
      refuse_foreign_files(top, inner.get(), path, whole);
    } else if (!S_ISREG(info.st_mode)) {
      throw Failure(ErrorCode::conflict, "it is neither a file nor a folder, and no run makes such an entry",
                    escape_unprintable(path), "give another OUTPUT, or remove the folder of shards");
    } else if (has_names_elsewhere(top, folder, entry)) {
      throw Failure(ErrorCode::conflict, "it has a second name (a hard link) elsewhere, which no run makes",
                    escape_unprintable(path), "give another OUTPUT, or remove the folder of shards");
    }
  }
}

}  // namespace

RunFolder::RunFolder(const std::string& output, const RunPresence::Timing& timing)
    : output_(strip_slashes(output)), name_(output_ + ".shards"), timing_(timing), at_(name_) {}

RunFolder RunFolder::from_shards_folder(const std::string& folder) {
  constexpr std::string_view kEnd = ".shards";
  const std::string name = strip_slashes(folder);
  return RunFolder(name.ends_with(kEnd) && name.size() > kEnd.size() ? name.substr(0, name.size() - kEnd.size())
                                                                     : name);
}

std::string RunFolder::path(std::string_view file) const { return join_path(at_, file); }

Error RunFolder::restore_user_paths(Error error) const {
  if (at_ == name_) return error;
  for (std::string* const text : {&error.what, &error.subject, &error.remedy}) {
    for (std::size_t at = 0; (at = text->find(at_ + "/", at)) != std::string::npos; at += name_.size()) {
      text->replace(at, at_.size(), name_);
    }
  }
  return error;
}

bool RunFolder::open_parent() {
  // Links on the way are the user's choice: the store will be where they lead to now.
  if (!parent_) parent_ = Descriptor(::open(folder_of(output_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return static_cast<bool>(parent_);
}

bool RunFolder::open_folder() {
  folder_ =
      Descriptor(::openat(parent_.get(), base_name(name_).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) return false;
  at_ = fmt::format("/proc/self/fd/{}", folder_.get());
  // Without /proc, names are used.
  if (::access((at_ + "/.").c_str(), F_OK) != 0) at_ = name_;
  return true;
}

void RunFolder::close_folder() {
  presence_.reset();
  lock_ = Descriptor();
  folder_ = Descriptor();
  at_ = name_;
}

bool RunFolder::open_lock() {
  constexpr int kHow = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
  lock_ = Descriptor(::openat(folder_.get(), kLock, kHow | O_EXCL, 0644));
  made_lock_ = static_cast<bool>(lock_);
  if (!lock_ && errno == EEXIST) lock_ = Descriptor(::openat(folder_.get(), kLock, kHow, 0644));
  return static_cast<bool>(lock_);
}

void RunFolder::abandon() {
  presence_.reset();
  if (made_lock_) remove_lock();
  remove_if_empty();
  close_folder();
}

// Returns true if the open lock file still has its name. A run that removes the folder removes its lock last: a run
// that opened the lock before that holds nothing.
bool RunFolder::is_lock_named() const {
  struct stat held {
  }, named{};
  return ::fstat(lock_.get(), &held) == 0 && ::fstatat(folder_.get(), kLock, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

// Locks belong to the open file, not to the process: two runs in one process keep each other out too.
bool RunFolder::lock(short kind, std::uint64_t byte) const {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  return ::fcntl(lock_.get(), F_OFD_SETLK, &range) == 0;
}

// Refuses a folder that is not a run's, and changes nothing in it.
void RunFolder::check_folder() const {
  const auto state = state_of_descriptor(folder_.get());
  if (!state || state->owner != ::geteuid()) {
    throw Failure(ErrorCode::conflict, "the folder for its shards belongs to another user", name_,
                  "give another OUTPUT");
  }
  if (!is_run_folder(folder_.get())) {
    throw Failure(ErrorCode::conflict, "it contains files that Millrace did not write", name_,
                  "give another OUTPUT, or move this folder away");
  }
  refuse_foreign_files(folder_.get(), folder_.get(), name_, name_);
}

bool RunFolder::open_to_lock(Missing missing) {
  if (missing == Missing::make && ::mkdirat(parent_.get(), base_name(name_).c_str(), 0755) != 0 && errno != EEXIST) {
    throw Failure(system_error("it cannot be created", name_, errno));
  }
  // Another run may have published the output and removed the folder since it was found or opened.
  const auto open = [&] {
    if (!open_folder()) return false;
    check_folder();
    return open_lock();
  };
  bool opened = open();
  for (int i = 0; i < 3 && !opened && errno == ENOENT && missing == Missing::make; ++i) {
    ::mkdirat(parent_.get(), base_name(name_).c_str(), 0755);
    opened = open();
  }
  return opened;
}

void RunFolder::hold(Hold how, Missing missing, const std::function<void()>& check_cancelled) {
  if (!open_parent() && errno == ENOENT) {
    throw Failure(ErrorCode::not_found, "its folder does not exist", output_, "create the folder first");
  }
  if (!parent_) throw Failure(system_error("it cannot be created", name_, errno));
  // The last of the runs that share the folder holds it alone while it publishes the output.
  constexpr int kTries = 500;
  for (int i = 0;; ++i) {
    const bool opened = open_to_lock(missing);
    if (!folder_ && errno == ENOENT) {
      throw Failure(ErrorCode::not_found, "no unfinished shards were found", name_, "run the job with --part first");
    }
    if (!folder_) throw Failure(system_error("it cannot be opened", name_, errno));
    if (!opened) throw Failure(system_error("it cannot be locked", name_, errno));
    const bool locked = lock(how == Hold::alone ? F_WRLCK : F_RDLCK, 0);
    const int number = locked ? EAGAIN : errno;
    if (locked && is_lock_named()) {
      if (is_only_run(how, check_cancelled)) return;
      // A run that merges the shards ends soon; a run that makes the whole output does not.
      if (presence_ && presence_->other_is_alone()) break;
    }
    if (number != EAGAIN && number != EACCES) throw Failure(system_error("it cannot be locked", name_, number));
    if (how == Hold::alone || i == kTries) break;
    close_folder();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  throw Failure(ErrorCode::conflict, "another run is making the same output", name_, "wait for it to end");
}

// Returns false if another run has removed the folder, with the output in its place.
bool RunFolder::announce_run(RunPresence::Mode mode) {
  presence_.reset();
  try {
    presence_ = std::make_unique<RunPresence>(folder_.get(), mode, timing_);
    return true;
  } catch (const Failure& failure) {
    Error error = failure.error();
    if (error.code == ErrorCode::not_found) return false;
    error.subject = join_path(name_, error.subject);
    throw Failure(std::move(error));
  }
}

// Returns true if no run is seen that excludes this one. Locks do not show such a run on every file system.
bool RunFolder::is_only_run(Hold how, const std::function<void()>& check_cancelled) {
  return announce_run(how == Hold::alone ? RunPresence::Mode::alone : RunPresence::Mode::shared) &&
         presence_->wait_for_others(check_cancelled) == RunPresence::Others::none;
}

void RunFolder::release_hold() {
  presence_.reset();
  lock(F_UNLCK, 0);
}
// Another run may hold the lock for a moment only, to check the folder or its owner. Of several runs that want to
// be the last, one gets the claim.
bool RunFolder::hold_alone(const std::function<void()>& check_cancelled) {
  constexpr int kTries = 100;
  constexpr const char* kWhole = "whole";
  if (!announce_run(RunPresence::Mode::last)) return false;
  for (int i = 0; i < kTries; ++i) {
    if (try_lock(0)) {
      if (!is_lock_named() || !has_its_name()) return false;
      if (presence_->wait_and_claim(kWhole, check_cancelled) &&
          presence_->wait_for_others(check_cancelled) == RunPresence::Others::none) {
        return has_its_name();
      }
      presence_->release_claim(kWhole);
      lock(F_UNLCK, 0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  presence_.reset();
  return false;
}
bool RunFolder::claim(std::uint64_t k) {
  if (!try_lock(k + 1)) return false;
  if (presence_->claim(std::to_string(k)) == RunPresence::Claim::mine) return true;
  lock(F_UNLCK, k + 1);
  return false;
}
bool RunFolder::wait_and_claim(std::uint64_t k, const std::function<void()>& check_cancelled) {
  if (!try_lock(k + 1)) return false;
  if (presence_->wait_and_claim(std::to_string(k), check_cancelled)) return true;
  lock(F_UNLCK, k + 1);
  return false;
}

// Returns false if another run has it. If that cannot be determined, no run may continue.
bool RunFolder::try_lock(std::uint64_t byte) const {
  if (lock(F_WRLCK, byte)) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  throw Failure(system_error("it cannot be locked", name_, errno));
}
void RunFolder::release_claim(std::uint64_t k) {
  if (presence_) presence_->release_claim(std::to_string(k));
  lock(F_UNLCK, k + 1);
}

bool RunFolder::hold_leftover() {
  presence_.reset();  // its file is in the folder that is held until now
  if (!open_parent() || !open_folder()) return false;
  const auto state = state_of_descriptor(folder_.get());
  if (!state || state->owner != ::geteuid()) {
    close_folder();
    return false;
  }
  if (open_lock() && lock(F_WRLCK, 0)) {
    try {
      if (announce_run(RunPresence::Mode::alone) && presence_->find_others() == RunPresence::Others::none) return true;
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch): a full disk; what is left stays for another run
    }
    presence_.reset();
  }
  if (made_lock_) remove_lock();
  close_folder();
  return false;
}

void RunFolder::remove_stale_files() {
  const auto is_left = [](const std::string& name) { return is_partial(name) || RunPresence::is_presence_file(name); };
  if (!open_parent() || !open_folder()) return;
  const std::vector<std::string> found = list_names(folder_.get());
  if (std::none_of(found.begin(), found.end(), is_left)) return close_folder();
  if (!hold_leftover()) return;
  // Files of dead runs are gone; their claims and partial files are not.
  remove_stale_temporaries();
  for (const std::string& name : list_names(folder_.get())) {
    if (RunPresence::is_claim(name)) ::unlinkat(folder_.get(), name.c_str(), 0);
  }
  abandon();
}

bool RunFolder::has_its_name() const {
  struct stat held {
  }, named{};
  return ::fstat(folder_.get(), &held) == 0 &&
         ::fstatat(parent_.get(), base_name(name_).c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void RunFolder::remove() {
  presence_.reset();
  const std::vector<std::string> names = list_names(folder_.get());
  if (std::find(names.begin(), names.end(), kRunFile) != names.end()) {
    std::error_code error;
    for (const std::string& name : names) {
      if (name != kRunFile && name != kLock) std::filesystem::remove_all(path(name), error);
    }
    ::unlinkat(folder_.get(), kRunFile, 0);
  } else if (is_run_folder(folder_.get())) {
    ::unlinkat(folder_.get(), kRunsFile, 0);  // without shards, the number of runs is of no use
  }
  remove_if_empty();
  close_folder();
}

void RunFolder::remove_stale_temporaries() const {
  std::error_code error;
  for (const std::string& name : list_names(folder_.get())) {
    if (is_partial(name)) std::filesystem::remove_all(path(name), error);
    if (RunPresence::is_claim_of_shard(name)) ::unlinkat(folder_.get(), name.c_str(), 0);
  }
}

void RunFolder::remove_lock() const { ::unlinkat(folder_.get(), kLock, 0); }

void RunFolder::remove_if_empty() {
  presence_.reset();
  const std::vector<std::string> names = list_names(folder_.get());
  // Files of other runs count: those runs are at work.
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return name != kLock; })) return;
  remove_lock();
  if (has_its_name()) ::unlinkat(parent_.get(), base_name(name_).c_str(), AT_REMOVEDIR);
}

void RunFolder::publish(const std::string& name, const OverwritePolicy& replaces) {
  const std::string to = base_name(output_);
  int reason = 0;
  bool lost = false;
  if (replaces.any_file) {
    if (::renameat(folder_.get(), name.c_str(), parent_.get(), to.c_str()) != 0) reason = errno;
  } else if (replaces.examined) {
    reason = rename_over(folder_.get(), name.c_str(), parent_.get(), to.c_str(), *replaces.examined, lost);
  } else {
    reason = rename_new(folder_.get(), name.c_str(), parent_.get(), to.c_str());
  }
  if (lost) throw Failure(system_error("it cannot be renamed back", join_path(name_, name), reason));
  if (!replaces.any_file && (reason == EEXIST || reason == ENOTEMPTY)) {
    throw Failure(ErrorCode::conflict, "another program created or replaced it during this run", output_,
                  "move it away and run the same command again, or give another OUTPUT");
  }
  if (reason != 0) throw Failure(system_error("it cannot be renamed to its final name", output_, reason));
  sync_parent();
}

void RunFolder::sync_parent() const {
  const Descriptor synced(::openat(parent_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (synced) ::fsync(synced.get());
}

}  // namespace millrace
