#include "src/io/file/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "src/base/text.h"

namespace millrace {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failure(system_error(what, printable(path), errno));
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
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
}

AtomicFile::AtomicFile(std::string path, Temporary temporary) : path_(std::move(path)) {
  if (temporary == Temporary::part) {
    temporary_ = path_ + ".part";
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("cannot be created", path_);
    return;
  }
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = fmt::format("{}/{}{}-{}", folder_of(path_), kTemporaryPrefix, ::getpid(), counter.fetch_add(1));
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    // A run that was killed may have left this name: process numbers come again, in a container at every start.
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) fail("cannot be created", path_);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
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
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place", path_);
  temporary_.clear();
  sync_folder(folder_of(path_));
}

namespace {

void write_pieces(const std::string& path, std::span<const std::string_view> pieces) {
  if (path == "-") {
    for (const std::string_view piece : pieces) write_all(STDOUT_FILENO, piece, "standard output");
    return;
  }
  // A device or a pipe has no half: /dev/stdout, /dev/null, a shell's >(command).
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) fail("cannot be opened", path);
    struct Close {
      int fd;
      ~Close() { ::close(fd); }
    } const close_it{fd};
    for (const std::string_view piece : pieces) write_all(fd, piece, path);
    return;
  }
  AtomicFile file(path);
  for (const std::string_view piece : pieces) file.write(piece);
  file.commit();
}

}  // namespace

void write_output(const std::string& path, std::string_view text) { write_pieces(path, {&text, 1}); }

void write_output(const std::string& path, std::span<const std::string> pieces) {
  write_pieces(path, std::vector<std::string_view>(pieces.begin(), pieces.end()));
}

}  // namespace millrace
