#include "src/io/file/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/positional_io.h"

namespace millrace {
void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_system_error("cannot be written", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that cannot be opened for reading cannot be synced; the rename is done all the same
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

std::string unique_temporary_name() {
  static std::atomic<unsigned> counter{0};
  std::uint64_t random = 0;
  // GRND_NONBLOCK: getrandom() could block soon after boot. The process ID and the counter are unique within one
  // machine.
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = static_cast<std::uint64_t>(::getpid());
  return fmt::format("{}{:016x}-{}", AtomicFile::kTemporaryPrefix, random, counter.fetch_add(1));
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  open_folder();
  create_unique(ReadAccess::everyone);
}

AtomicFile::AtomicFile(std::string path, const ShardOptions& shard)
    : path_(std::move(path)),
      is_joined_(shard.is_joined),
      work_folder_(::open(shard.work_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      hash_(std::make_unique<RunningHash>()) {
  if (!work_folder_) throw_system_error("cannot be created", path_);
  open_folder();
  create_unique(ReadAccess::everyone);
}

AtomicFile::AtomicFile(std::string path, OverwritePolicy replaces, ReadAccess readers)
    : path_(std::move(path)), replaces_(replaces) {
  open_folder();
  create_unique(readers);
}

// Opens the output's folder, through symbolic links if the user's path has any. All later calls use this descriptor,
// whatever gets the folder's name meanwhile.
void AtomicFile::open_folder() {
  const std::string folder = folder_of(path_);
  folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // O_PATH opens a folder that may be entered and written but not listed. Such a folder cannot be synced.
  if (!folder_ && errno == EACCES) folder_ = Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) throw_system_error("cannot be created", path_);
}

// Creates the temporary file, without a name (O_TMPFILE) if the file system allows it: a run that is killed then leaves
// nothing.
void AtomicFile::create_unique(ReadAccess readers) {
  const mode_t mode = readers == ReadAccess::owner ? 0600 : 0666;
  static const bool has_links_to_open_files = ::access("/proc/self/fd", X_OK) == 0;
  if (has_links_to_open_files) fd_ = ::openat(temporary_folder(), ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (fd_ >= 0) return;
  constexpr int kHow = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  do {
    temporary_ = unique_temporary_name();
    fd_ = ::openat(temporary_folder(), temporary_.c_str(), kHow, mode);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) throw_system_error("cannot be created", path_);
}

// Gives a file without a name its temporary name. A second call, a rename, gives it its own name.
void AtomicFile::name_temporary() {
  if (!temporary_.empty()) return;
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd_);
  std::string name;
  do {
    name = unique_temporary_name();
    if (::linkat(AT_FDCWD, open_file.c_str(), temporary_folder(), name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
  } while (errno == EEXIST);
  throw_system_error("cannot be renamed to its final name", path_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlinkat(temporary_folder(), temporary_.c_str(), 0);
}

void AtomicFile::write(std::string_view bytes) {
  constexpr std::size_t kPending = 1 << 20;
  synced_ = false;
  if (hash_) hash_->update(std::as_bytes(std::span(bytes)));
  written_ += bytes.size();
  if (pending_.size() + bytes.size() > kPending) flush();
  if (bytes.size() > kPending) {
    write_all(fd_, bytes, path_);
  } else {
    pending_ += bytes;
  }
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  synced_ = false;
  if (!millrace::write_at(fd_, offset, bytes)) throw_system_error("cannot be written", path_);
}

void AtomicFile::flush() {
  write_all(fd_, pending_, path_);
  pending_.clear();
}

void AtomicFile::sync() {
  if (synced_) return;
  flush();
  if (::fsync(fd_) != 0) throw_system_error("cannot be synced", path_);
  synced_ = true;
}

void AtomicFile::commit() {
  sync();
  name_temporary();
  const auto written = state_of_descriptor(fd_);
  if (::close(std::exchange(fd_, -1)) != 0) throw_system_error("cannot be written", path_);
  const auto named = state_of_name(temporary_folder(), temporary_);
  if (!written || !named || !written->has_same_inode(*named)) {
    temporary_.clear();  // the file of that name is not ours to remove
    throw Failure(ErrorCode::conflict, "another program replaced or removed its temporary file", path_,
                  "make sure that no other run writes the same output, and run the same command again");
  }
  if (work_folder_) {
    publish_shard();
  } else {
    publish();
  }
  temporary_.clear();
  ::fsync(folder_.get());
}

FileDigest AtomicFile::digest() const { return {name(), written_, hash_ ? hash_->digest() : 0}; }

// Returns true while the output's folder has its path. The descriptor still leads to the folder after another run has
// published it under another name.
bool AtomicFile::is_folder_published() const {
  const auto held = state_of_descriptor(folder_.get());
  struct stat now {};
  return held && ::stat(folder_of(path_).c_str(), &now) == 0 && now.st_dev == held->device && now.st_ino == held->inode;
}

void AtomicFile::publish_shard() {
  const auto published = [&] {
    return Failure(ErrorCode::conflict, "another run finished the output while this run was writing a shard of it",
                   path_, "if that run succeeded, the output is complete");
  };
  if (!is_folder_published()) throw published();
  const int reason = rename_new(work_folder_.get(), temporary_.c_str(), folder_.get(), name().c_str());
  if (reason == 0) {
    if (is_folder_published()) return;
    // Another run published the folder between the two checks. If it joined the shards without this file, the file is
    // left over and is removed.
    if (is_joined_) ::unlinkat(folder_.get(), name().c_str(), 0);
    throw published();
  }
  if (reason == EEXIST) {
    // EEXIST: another run has made the same file, or the existing file is damaged and is replaced.
    const auto there = digest_of_file(folder_.get(), name());
    if (there == digest()) {
      ::unlinkat(work_folder_.get(), temporary_.c_str(), 0);
      return;
    }
    if (!is_folder_published()) throw published();
    if (!there) {
      throw Failure(ErrorCode::conflict, "another run removed it, or it cannot be read", path_,
                    "run the same command again");
    }
    if (::renameat(work_folder_.get(), temporary_.c_str(), folder_.get(), name().c_str()) == 0) {
      if (is_folder_published()) return;
      throw published();
    }
  }
  errno = reason == EEXIST ? errno : reason;
  throw_system_error("cannot be renamed to its final name", path_);
}

void AtomicFile::publish() {
  if (replaces_.any_file) {
    if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str()) != 0)
      throw_system_error("cannot be renamed to its final name", path_);
    return;
  }
  bool lost = false;
  errno = replaces_.examined
              ? rename_over(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str(), *replaces_.examined, lost)
              : rename_new(folder_.get(), temporary_.c_str(), folder_.get(), name().c_str());
  // The exchanged file belongs to another program: it is kept under the temporary name.
  if (lost)
    throw_system_error("a file of another program got this name and cannot be renamed back",
                       join_path(folder_of(path_), std::exchange(temporary_, "")));
  if (errno == EEXIST) {
    throw Failure(ErrorCode::conflict, "another program created, replaced or changed this file during the run",
                  escape_unprintable(path_),
                  "move that file away, or choose another output, and run the same command again");
  }
  if (errno != 0) throw_system_error("cannot be renamed to its final name", path_);
  if (replaces_.examined) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void write_file_unsynced(const std::string& path, std::string_view text) {
  const std::string temporary = join_path(folder_of(path), unique_temporary_name());
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) throw_system_error("cannot be created", path);
  try {
    write_all(file.get(), text, path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw_system_error("cannot be renamed to its final name", path);
  } catch (const Failure&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace millrace
