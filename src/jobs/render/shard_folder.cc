#include "src/jobs/render/shard_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::render {
namespace {

constexpr unsigned kOthersWrite = 022;

std::string without_slash(std::string name) {
  while (name.size() > 1 && name.ends_with("/")) name.pop_back();
  return name;
}

std::string last_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// By a descriptor of its own: what was listed before begins anew.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> out;
  Descriptor listed(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(listed ? ::fdopendir(listed.get()) : nullptr, ::closedir);
  if (!handle) return out;
  listed.release();
  while (const dirent* entry = ::readdir(handle.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
  }
  return out;
}

// What others put into a folder while it was open to them stays when it is closed: no run makes links or second names.
void refuse_what_no_run_makes(int folder, const std::string& name, const std::string& whole) {
  const auto refuse = [&](const std::string& what) {
    throw Failure(ErrorCode::conflict, fmt::format("{} in it {}", printable(name), what), printable(whole),
                  "give another OUTPUT, or remove this folder");
  };
  const auto state = state_of_descriptor(folder);
  if (!state || state->owner != ::geteuid()) refuse("belongs to another user");
  // Where there are no modes nobody is kept out by them, and this changes nothing.
  if ((state->mode & kOthersWrite) != 0) ::fchmod(folder, state->mode & ~kOthersWrite);
  for (const std::string& entry : names_in(folder)) {
    const std::string path = path_in(name, entry);
    struct stat info {};
    if (::fstatat(folder, entry.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      const Descriptor inner(::openat(folder, entry.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!inner) throw Failure(system_error("it cannot be opened", printable(path), errno));
      refuse_what_no_run_makes(inner.get(), path, whole);
    } else if (!S_ISREG(info.st_mode)) {
      throw Failure(ErrorCode::conflict, "no run makes what is not a file or a folder", printable(path),
                    "give another OUTPUT, or remove the folder of shards");
    } else if (info.st_nlink > 1) {
      throw Failure(ErrorCode::conflict, "it has a second name elsewhere, which no run makes", printable(path),
                    "give another OUTPUT, or remove the folder of shards");
    }
  }
}

}  // namespace

ShardFolder::ShardFolder(const std::string& output)
    : output_(without_slash(output)), name_(output_ + ".shards"), at_(name_) {}

std::string ShardFolder::path(std::string_view file) const { return path_in(at_, file); }

Error ShardFolder::in_words(Error error) const {
  if (at_ == name_) return error;
  for (std::string* const text : {&error.what, &error.subject, &error.remedy}) {
    for (std::size_t at = 0; (at = text->find(at_ + "/", at)) != std::string::npos; at += name_.size()) {
      text->replace(at, at_.size(), name_);
    }
  }
  return error;
}

bool ShardFolder::open_parent() {
  // Links on the way to it are the user's matter: what they lead to now is where the store will lie.
  if (!parent_) parent_ = Descriptor(::open(folder_of(output_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return static_cast<bool>(parent_);
}

bool ShardFolder::open_folder() {
  folder_ =
      Descriptor(::openat(parent_.get(), last_name(name_).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) return false;
  at_ = fmt::format("/proc/self/fd/{}", folder_.get());
  // Where /proc is not there, names have to do.
  if (::access((at_ + "/.").c_str(), F_OK) != 0) at_ = name_;
  return true;
}

void ShardFolder::let_go() {
  folder_ = Descriptor();
  at_ = name_;
}

// Given back by the system when the run ends, however it ends.
bool ShardFolder::lock() const { return ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0; }

void ShardFolder::hold() {
  if (!open_parent() && errno == ENOENT) {
    throw Failure(ErrorCode::not_found, "its folder is not there", output_, "create the folder first");
  }
  if (!parent_ || (::mkdirat(parent_.get(), last_name(name_).c_str(), 0755) != 0 && errno != EEXIST)) {
    throw Failure(system_error("it cannot be created", name_, errno));
  }
  if (!open_folder()) throw Failure(system_error("it cannot be opened", name_, errno));
  const auto state = state_of_descriptor(folder_.get());
  if (!state || state->owner != ::geteuid()) {
    throw Failure(ErrorCode::conflict, "the folder for its shards belongs to another user", name_,
                  "give another OUTPUT");
  }
  if (!lock()) {
    throw Failure(ErrorCode::conflict, "another run is drawing the same output", name_, "wait for it to end");
  }
  refuse_what_no_run_makes(folder_.get(), name_, name_);
}

bool ShardFolder::hold_left() {
  if (!open_parent() || !open_folder()) return false;
  const auto state = state_of_descriptor(folder_.get());
  if (state && state->owner == ::geteuid() && lock()) return true;
  let_go();
  return false;
}

bool ShardFolder::has_its_name() const {
  struct stat held {
  }, named{};
  return ::fstat(folder_.get(), &held) == 0 &&
         ::fstatat(parent_.get(), last_name(name_).c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

void ShardFolder::remove() {
  constexpr const char* kRun = "run.json";
  const std::vector<std::string> names = names_in(folder_.get());
  if (std::find(names.begin(), names.end(), kRun) != names.end()) {
    for (const std::string& name : names) {
      if (name != kRun) ::unlinkat(folder_.get(), name.c_str(), 0);
    }
    ::unlinkat(folder_.get(), kRun, 0);
  }
  remove_if_empty();
  let_go();
}

void ShardFolder::remove_if_empty() const { ::unlinkat(parent_.get(), last_name(name_).c_str(), AT_REMOVEDIR); }

void ShardFolder::publish(std::string_view file, bool over) { put_in_place(folder_.get(), std::string(file), over); }

void ShardFolder::publish() {
  ::fsync(folder_.get());
  if (!has_its_name()) {
    throw Failure(ErrorCode::conflict, "another folder has taken its name while this run was drawing", name_,
                  "give another OUTPUT, in a folder where nobody else may do that");
  }
  put_in_place(parent_.get(), last_name(name_), false);
}

void ShardFolder::put_in_place(int from, const std::string& name, bool over) {
  const std::string to = last_name(output_);
  const auto taken = [&] {
    return Failure(ErrorCode::conflict, "it has appeared while this run was drawing", output_,
                   "move it away, or give another OUTPUT, and run the same command again");
  };
  int failed = over ? ::renameat(from, name.c_str(), parent_.get(), to.c_str())
                    : ::renameat2(from, name.c_str(), parent_.get(), to.c_str(), RENAME_NOREPLACE);
  if (failed != 0 && !over && (errno == EINVAL || errno == ENOSYS)) {
    if (::linkat(from, name.c_str(), parent_.get(), to.c_str(), 0) == 0) {
      ::unlinkat(from, name.c_str(), 0);
      return sync_parent();
    }
    if (errno == EEXIST) throw taken();
    // A folder, or a file system that cannot refuse to replace: nothing is left but to look first.
    struct stat info {};
    if (::fstatat(parent_.get(), to.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) throw taken();
    failed = ::renameat(from, name.c_str(), parent_.get(), to.c_str());
  }
  if (failed != 0 && (errno == EEXIST || errno == ENOTEMPTY) && !over) throw taken();
  if (failed != 0) throw Failure(system_error("it cannot be given its name", output_, errno));
  sync_parent();
}

void ShardFolder::sync_parent() const {
  const Descriptor synced(::openat(parent_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (synced) ::fsync(synced.get());
}

}  // namespace millrace::render
