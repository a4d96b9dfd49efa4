#include "src/io/file/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/at_offset.h"

namespace millrace {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failure(system_error(what, printable(path), errno));
}

}  // namespace

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that cannot be opened for reading cannot be synced; the rename stands
  ::fsync(fd);
  ::close(fd);
}

void sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::fsync(fd) == 0;
  const int number = errno;
  if (fd >= 0) ::close(fd);
  if (!done) throw Failure(system_error("it cannot be written to the disk", path, number));
}

void rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw Failure(system_error("it cannot be renamed", from, errno));
  sync_folder(folder_of(to));
}

AtomicFile::AtomicFile(std::string path, Temporary temporary) : path_(std::move(path)) {
  open_folder();
  if (temporary == Temporary::part) {
    // What an earlier attempt left goes, and nothing is written through a link that somebody put there.
    temporary_ = name() + ".part";
    ::unlinkat(folder_.get(), temporary_.c_str(), 0);
    fd_ = create(0666);
    if (fd_ < 0) fail("cannot be created", path_);
    return;
  }
  create_unique(Readers::everyone);
}

AtomicFile::AtomicFile(std::string path, Replaceable replaces, Readers readers)
    : path_(std::move(path)), replaces_(replaces) {
  open_folder();
  create_unique(readers);
}

// Links on the way to it are the user's matter; whatever has its name later, all is done in this one.
void AtomicFile::open_folder() {
  const std::string folder = folder_of(path_);
  folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // One that may be entered and written but not listed: then it cannot be synced.
  if (!folder_ && errno == EACCES) folder_ = Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) fail("cannot be created", path_);
}

int AtomicFile::create(mode_t mode) const {
  return ::openat(folder_.get(), temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

void AtomicFile::create_unique(Readers readers) {
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), counter.fetch_add(1));
    fd_ = create(readers == Readers::owner ? 0600 : 0666);
    // A run that was killed may have left this name: process numbers come again, in a container at every start.
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail("cannot be created", path_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void AtomicFile::write(std::string_view bytes) {
  constexpr std::size_t kPending = 1 << 20;
  synced_ = false;
  if (pending_.size() + bytes.size() > kPending) flush();
  if (bytes.size() > kPending) {
    write_all(fd_, bytes, path_);
  } else {
    pending_ += bytes;
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  synced_ = false;
  if (!millrace::write_at(fd_, offset, bytes)) fail("cannot be written", path_);
}

void AtomicFile::flush() {
  write_all(fd_, pending_, path_);
  pending_.clear();
}

void AtomicFile::sync() {
  if (synced_) return;
  flush();
  if (::fsync(fd_) != 0) fail("cannot be synced", path_);
  synced_ = true;
}

void AtomicFile::commit() {
  sync();
  if (::close(std::exchange(fd_, -1)) != 0) fail("cannot be written", path_);
  put_in_place();
  temporary_.clear();
  ::fsync(folder_.get());
}

void AtomicFile::put_in_place() {
  if (replaces_.anything) {
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str()) != 0)
      fail("cannot be put in place", path_);
    return;
  }
  bool lost = false;
  errno = replaces_.looked_at ? rename_over(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str(),
                                            *replaces_.looked_at, lost)
                              : rename_new(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str());
  // It is somebody's: it stays under the temporary name.
  if (lost) fail("cannot be given back its name", path_in(folder_of(path_), std::exchange(temporary_, "")));
  if (errno == EEXIST) {
    throw Failure(ErrorCode::conflict, "another file has taken its name while the work was done", printable(path_),
                  "move that one away, or name another output, and run the same command again");
  }
  if (errno != 0) fail("cannot be put in place", path_);
  if (replaces_.looked_at) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace millrace
