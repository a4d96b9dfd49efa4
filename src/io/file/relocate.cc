#include "src/io/file/relocate.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"

namespace millrace {
namespace {

void (*step_hook)(const char*) = nullptr;

Error failed(const char* what, const std::string& path, int reason) {
  Error error = system_error(what, printable(path), reason);
  if (reason == EEXIST) error.code = ErrorCode::conflict;
  if (reason == EXDEV) error.code = ErrorCode::unsupported;
  return error;
}

void sync_both(const std::string& from, const std::string& to) {
  sync_folder(folder_of(to));
  if (folder_of(from) != folder_of(to)) sync_folder(folder_of(from));
}

timespec time_of(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::int64_t seconds = ns / kSecond, rest = ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  return {static_cast<time_t>(seconds), static_cast<long>(rest)};
}

std::optional<Error> write_copy(int in, int out, const std::string& from, const std::string& to) {
  std::array<char, 1 << 16> chunk;
  while (true) {
    const ssize_t got = ::read(in, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot be read", from, errno);
    if (got == 0) return std::nullopt;
    for (ssize_t at = 0; at < got;) {
      const ssize_t n = ::write(out, chunk.data() + at, static_cast<std::size_t>(got - at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("the copy cannot be written", to, errno);
      at += n;
    }
  }
}

// Tags, comments, access lists: what the new file system does not take is not worth failing for.
void copy_attributes(int in, int out) {
  std::string names(1 << 16, '\0');
  const ssize_t size = ::flistxattr(in, names.data(), names.size());
  for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
    const char* name = names.data() + at;
    std::string value(1 << 16, '\0');
    const ssize_t got = ::fgetxattr(in, name, value.data(), value.size());
    if (got >= 0) static_cast<void>(::fsetxattr(out, name, value.data(), static_cast<std::size_t>(got), 0));
    at += std::string_view(name).size() + 1;
  }
}

// The copy under its temporary name, finished but for its final name; removed again on any failure.
std::optional<Error> make_copy(const std::string& from, const std::string& temporary, const FileState& like) {
  step("remove an old temporary copy");
  if (auto error = remove_name(temporary)) return error;
  const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (in < 0) return failed("cannot be opened", from, errno);
  step("create the temporary copy");
  const int out = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0) {
    const int reason = errno;
    ::close(in);
    return failed("the copy cannot be created", temporary, reason);
  }
  step("write the copy");
  auto error = write_copy(in, out, from, temporary);
  if (!error) {
    copy_attributes(in, out);
    // The owner first: changing it clears some permission bits. Only root may give files away; others keep what they
    // get.
    if (::fchown(out, like.owner, like.group) != 0 && errno != EPERM)
      error = failed("the copy's owner cannot be set", temporary, errno);
    const timespec times[2] = {time_of(like.mtime_ns), time_of(like.mtime_ns)};
    if (!error && ::fchmod(out, like.mode) != 0 && errno != EPERM)
      error = failed("the copy's permissions cannot be set", temporary, errno);
    if (!error && ::futimens(out, times) != 0) error = failed("the copy's time cannot be set", temporary, errno);
    step("sync the copy");
    if (!error && ::fsync(out) != 0) error = failed("the copy cannot be synced", temporary, errno);
  }
  ::close(in);
  if (::close(out) != 0 && !error) error = failed("the copy cannot be written", temporary, errno);
  if (!error) {
    step("compare the copy");
    const auto same = same_contents(from, temporary);
    if (!same) error = same.error();
    if (same && !*same)
      error = Error{ErrorCode::io, "the copy does not hold the same bytes", printable(temporary), "check the drive"};
  }
  if (error) ::unlink(temporary.c_str());
  return error;
}

}  // namespace

void set_step_hook(void (*hook)(const char*)) { step_hook = hook; }

void step(const char* next) {
  if (step_hook != nullptr) step_hook(next);
}

Outcome<FileState> state_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return system_error("cannot be examined", printable(path), errno);
  FileState state;
  state.size = static_cast<std::uint64_t>(info.st_size);
  state.mtime_ns = info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec;
  state.device = info.st_dev;
  state.inode = info.st_ino;
  state.mode = info.st_mode & 07777;
  state.owner = info.st_uid;
  state.group = info.st_gid;
  state.links = info.st_nlink;
  state.regular = S_ISREG(info.st_mode);
  state.link = S_ISLNK(info.st_mode);
  return state;
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::optional<Error> set_look(const std::string& path, const FileState& like) {
  const timespec times[2] = {time_of(like.mtime_ns), time_of(like.mtime_ns)};
  if (::chmod(path.c_str(), like.mode) != 0 || ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed("its time and permissions cannot be set", path, errno);
  }
  return std::nullopt;
}

std::optional<Error> remove_name(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("cannot be removed", path, errno);
  return std::nullopt;
}

std::optional<Error> rename_new(const std::string& from, const std::string& to) {
  step("rename");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return failed("cannot be renamed", errno == EEXIST ? to : from, errno);
    // Some network and FUSE file systems cannot refuse to replace. A hard link can, and where there are none either,
    // nothing is left but to look first.
    if (::link(from.c_str(), to.c_str()) == 0) {
      step("remove the old name");
      if (::unlink(from.c_str()) != 0) {
        const int reason = errno;
        ::unlink(to.c_str());
        return failed("cannot be renamed", from, reason);
      }
    } else {
      if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
        return failed("cannot be renamed", errno == EEXIST ? to : from, errno);
      if (exists(to)) return failed("cannot be renamed", to, EEXIST);
      if (::rename(from.c_str(), to.c_str()) != 0) return failed("cannot be renamed", from, errno);
    }
  }
  step("sync the folders");
  sync_both(from, to);
  return std::nullopt;
}

std::optional<Error> copy_new(const std::string& from, const std::string& to, const std::string& temporary,
                              const FileState& like) {
  if (auto error = make_copy(from, temporary, like)) return error;
  auto error = rename_new(temporary, to);
  if (error) ::unlink(temporary.c_str());
  return error;
}

std::optional<Error> copy_over(const std::string& from, const std::string& to, const std::string& temporary,
                               const FileState& like) {
  if (auto error = make_copy(from, temporary, like)) return error;
  step("put the copy in place");
  if (::rename(temporary.c_str(), to.c_str()) != 0) {
    auto error = failed("cannot be replaced", to, errno);
    ::unlink(temporary.c_str());
    return error;
  }
  step("sync the folder");
  sync_folder(folder_of(to));
  return std::nullopt;
}

std::optional<Error> move_new(const std::string& from, const std::string& to, const std::string& temporary) {
  auto error = rename_new(from, to);
  if (!error || error->code != ErrorCode::unsupported) return error;
  const auto before = state_of(from);
  if (!before) return before.error();
  if ((error = copy_new(from, to, temporary, *before))) return error;
  step("remove the original");
  const auto now = state_of(from);
  if (!now || !now->same(*before)) {
    ::unlink(to.c_str());
    return Error{ErrorCode::conflict, "changed while it was copied", printable(from), ""};
  }
  if ((error = remove_name(from))) {
    ::unlink(to.c_str());
    return error;
  }
  step("sync the old folder");
  sync_folder(folder_of(from));
  return std::nullopt;
}

std::optional<Error> replace_by_link(const std::string& path, const std::string& target, const std::string& temporary) {
  const auto before = state_of(path);
  if (!before) return before.error();
  const auto same = same_contents(path, target);
  if (!same) return same.error();
  if (!*same)
    return Error{ErrorCode::conflict, "its bytes differ from those of " + printable(target), printable(path), ""};
  step("link under a temporary name");
  if (::link(target.c_str(), temporary.c_str()) != 0) return failed("cannot be linked", target, errno);
  step("exchange");
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    // What was replaced has the temporary name now. Had someone written to it after it was compared, it goes back.
    step("check what was replaced");
    const auto replaced = state_of(temporary);
    if (!replaced || !replaced->same(*before)) {
      if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0)
        ::unlink(temporary.c_str());
      return Error{ErrorCode::conflict, "changed while it was compared", printable(path), ""};
    }
    step("remove what was replaced");
    ::unlink(temporary.c_str());
  } else if (errno == EINVAL || errno == ENOSYS) {
    const auto now = state_of(path);
    if (!now || !now->same(*before)) {
      ::unlink(temporary.c_str());
      return Error{ErrorCode::conflict, "changed while it was compared", printable(path), ""};
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      const int reason = errno;
      ::unlink(temporary.c_str());
      return failed("cannot be replaced", path, reason);
    }
  } else {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return failed("cannot be replaced", path, reason);
  }
  step("sync the folder");
  sync_folder(folder_of(path));
  return std::nullopt;
}

}  // namespace millrace
