#include "src/io/file/resumable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/text.h"
#include "src/io/file/positional_io.h"

namespace millrace {
namespace {

Descriptor open(const std::string& path, int how) {
  return Descriptor(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | how, 0666));
}

}  // namespace

ResumableFile::ResumableFile(std::string path) : path_(std::move(path)) {
  // A file that an earlier attempt left is removed, so nothing is written into an existing file of this name.
  ::unlink(path_.c_str());
  file_ = open(path_, O_CREAT | O_EXCL);
  if (!file_) throw_system_error("cannot be created", path_);
}

ResumableFile::ResumableFile(std::string path, std::uint64_t keep)
    : path_(std::move(path)), file_(open(path_, 0)), size_(keep) {
  const auto state = file_ ? state_of_descriptor(file_.get()) : std::nullopt;
  if (!state || !state->regular || state->size < keep)
    throw Failure(ErrorCode::conflict, "it is missing, or shorter than at the end of the previous run",
                  escape_unprintable(path_), "");
}

void ResumableFile::append(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void ResumableFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!millrace::write_at(file_.get(), offset, bytes)) throw_system_error("cannot be written", path_);
}

void ResumableFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  errno = 0;
  if (millrace::read_at(file_.get(), offset, out) == out.size()) return;
  if (errno != 0) throw_system_error("cannot be read", path_);
  throw Failure(ErrorCode::bad_data, "it became shorter during the run", escape_unprintable(path_), "");
}

void ResumableFile::sync() {
  if (::fdatasync(file_.get()) != 0) throw_system_error("cannot be synced", path_);
}

void ResumableFile::finish() {
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) throw_system_error("cannot be written", path_);
  sync();
}

}  // namespace millrace
