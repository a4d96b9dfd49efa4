#include "src/io/file/directory_entry.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr int kFolder = O_DIRECTORY | O_CLOEXEC;

constexpr std::int64_t kPerSecond = 1'000'000'000;

FileState state_from(const struct stat& info) {
  FileState state;
  state.size = static_cast<std::uint64_t>(info.st_size);
  state.mtime_ns = nanoseconds_of(info.st_mtim);
  state.ctime_ns = nanoseconds_of(info.st_ctim);
  state.device = info.st_dev;
  state.inode = info.st_ino;
  state.mode = info.st_mode & 07777;
  state.owner = info.st_uid;
  state.group = info.st_gid;
  state.links = info.st_nlink;
  state.regular = S_ISREG(info.st_mode);
  state.folder = S_ISDIR(info.st_mode);
  state.link = S_ISLNK(info.st_mode);
  return state;
}

bool is_link(int folder, const std::string& name) {
  struct stat info {};
  return ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

// Opens a folder name by name, if the kernel has no openat2 or a container's system call filter forbids it. -1 with
// errno; ELOOP for a link.
int open_by_steps(std::string_view path, int flags) {
  Descriptor at(::open(path.starts_with('/') ? "/" : ".", O_PATH | kFolder));
  if (!at) return -1;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name(path.substr(begin, end - begin));
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    Descriptor next(::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | kFolder));
    if (!next) {
      const int reason = errno;
      errno = reason == ENOTDIR && is_link(at.get(), name) ? ELOOP : reason;
      return -1;
    }
    at = std::move(next);
  }
  return ::openat(at.get(), ".", flags | kFolder);
}

int open_without_links(const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  // EPERM: older containers return it for system calls that they do not know.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_steps(path, flags);
  return static_cast<int>(fd);
}

Error refused(const std::string& folder, int reason) {
  if (reason == ELOOP) {
    return {ErrorCode::conflict, "its folder is reached through a symbolic link", escape_unprintable(folder),
            "give the path of the folder that the link points to"};
  }
  return system_error("its folder cannot be opened", escape_unprintable(folder), reason);
}

}  // namespace

std::int64_t nanoseconds_of(const timespec& time) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(time.tv_sec), kPerSecond, &out) ||
      __builtin_add_overflow(out, static_cast<std::int64_t>(time.tv_nsec), &out)) {
    return time.tv_sec < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return out;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

std::optional<FileState> state_of_descriptor(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return state_from(info);
}

std::optional<FileState> state_of_name(int folder, const std::string& name) {
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return state_from(info);
}

Outcome<Descriptor> open_folder(const std::string& path) {
  // A path with ".." in it leads to another folder than it names as soon as a folder is moved.
  for (const std::string& name : split(path, '/')) {
    if (name == "..")
      return Error{ErrorCode::conflict, "its path contains '..'", escape_unprintable(path),
                   "give the path without '..'"};
  }
  int fd = open_without_links(path, O_RDONLY);
  // O_PATH opens a folder that may be entered and written but not listed. Such a folder cannot be synced.
  if (fd < 0 && errno == EACCES) fd = open_without_links(path, O_PATH);
  if (fd < 0) return refused(path, errno);
  return Descriptor(fd);
}

Outcome<DirectoryEntry> DirectoryEntry::make(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::string_view last = std::string_view(path).substr(name);
  if (last.empty() || last == "." || last == "..") {
    return Error{ErrorCode::conflict, "not the path of a file", escape_unprintable(path), ""};
  }
  auto folder = open_folder(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
  if (!folder) return folder.error();
  return DirectoryEntry(path, name, std::move(folder).value());
}

Outcome<FileState> DirectoryEntry::state() const {
  struct stat info {};
  if (::fstatat(folder(), name(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error("cannot be examined", escape_unprintable(path_), errno);
  }
  return state_from(info);
}

bool DirectoryEntry::exists() const {
  struct stat info {};
  return ::fstatat(folder(), name(), &info, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

Outcome<Descriptor> DirectoryEntry::open() const {
  Descriptor fd(::openat(folder(), name(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    if (errno == ELOOP)
      return Error{ErrorCode::conflict, "is a symbolic link, not a file", escape_unprintable(path_), ""};
    return system_error("cannot be opened", escape_unprintable(path_), errno);
  }
  const auto state = state_of_descriptor(fd.get());
  if (!state || !state->regular)
    return Error{ErrorCode::unsupported, "not a regular file", escape_unprintable(path_), ""};
  return fd;
}

int DirectoryEntry::unlink() const { return ::unlinkat(folder(), name(), 0) == 0 ? 0 : errno; }

void DirectoryEntry::sync_folder() const { ::fsync(folder()); }

int rename_new(int from_folder, const char* from, int to_folder, const char* to, const std::function<void()>& between) {
  if (::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::linkat(from_folder, from, to_folder, to, 0) == 0) {
    if (between) between();
    if (::unlinkat(from_folder, from, 0) == 0) return 0;
    const int reason = errno;
    ::unlinkat(to_folder, to, 0);
    return reason;
  }
  // EPERM is also the error for a link to a folder.
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  struct stat info {};
  if (::fstatat(to_folder, to, &info, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  if (errno != ENOENT) return errno;
  return ::renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
}

int rename_over(int from_folder, const char* from, int to_folder, const char* to, const FileState& examined,
                bool& lost) {
  lost = false;
  const auto is_looked_at = [&](int folder, const char* name) {
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    const FileState there = state_from(info);
    return examined.has_same_inode(there) && examined.has_same_size_and_time(there);
  };
  if (::renameat2(from_folder, from, to_folder, to, RENAME_EXCHANGE) == 0) {
    if (is_looked_at(from_folder, from)) return 0;
    if (::renameat2(from_folder, from, to_folder, to, RENAME_EXCHANGE) == 0) return EEXIST;
    lost = true;
    return errno;
  }
  // ENOENT: the file was removed meanwhile.
  if (errno == ENOENT) return rename_new(from_folder, from, to_folder, to);
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // The file system cannot exchange names: the only protection is a check before the rename.
  if (!is_looked_at(to_folder, to)) return EEXIST;
  return ::renameat(from_folder, from, to_folder, to) == 0 ? 0 : errno;
}

Outcome<void> make_folders_no_follow(const std::string& folder, unsigned mode) {
  for (std::size_t at = 1; at < folder.size();) {
    at = std::min(folder.find('/', at), folder.size());
    const std::string part = folder.substr(0, at++);
    if (part.ends_with('/')) continue;
    const auto there = open_folder(part);
    if (there) continue;
    if (there.error().code != ErrorCode::not_found) return there.error();
    const auto entry = DirectoryEntry::make(part);
    if (!entry) return entry.error();
    if (::mkdirat(entry->folder(), entry->name(), mode) != 0 && errno != EEXIST) {
      return system_error("the folder cannot be created", escape_unprintable(part), errno);
    }
    entry->sync_folder();
  }
  return {};
}

}  // namespace millrace
