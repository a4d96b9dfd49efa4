#include "src/io/tensor/npy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace millrace::npy {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy data is used as it lies in the file");

constexpr std::size_t kBuffer = std::size_t{1} << 20;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Outcome<Mapped> Mapped::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    if (errno == ENOENT) return Error{ErrorCode::not_found, "there is no such file", path, {}};
    return system_error("it cannot be opened", path, errno);
  }
  struct stat info {};
  if (fstat(file, &info) != 0) {
    const int reason = errno;
    ::close(file);
    return system_error("it cannot be examined", path, reason);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    return Error{ErrorCode::bad_data, "it is not a regular file", path, {}};
  }
  if (info.st_size == 0) {
    ::close(file);
    return Error{ErrorCode::bad_data, "it is empty", path, {}};
  }
  Mapped mapped;
  mapped.length_ = static_cast<std::size_t>(info.st_size);
  void* const base = mmap(nullptr, mapped.length_, PROT_READ, MAP_PRIVATE, file, 0);
  const int reason = errno;
  ::close(file);
  if (base == MAP_FAILED) return system_error("it cannot be mapped", path, reason);
  mapped.base_ = base;
  Outcome<Header> header = parse({static_cast<const std::byte*>(base), mapped.length_}, path);
  if (!header) return header.error();
  mapped.header_ = std::move(*header);
  return mapped;
}

Mapped::Mapped(Mapped&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      length_(std::exchange(other.length_, 0)),
      header_(std::move(other.header_)) {}

Mapped& Mapped::operator=(Mapped&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(length_, other.length_);
  std::swap(header_, other.header_);
  return *this;
}

Mapped::~Mapped() {
  if (base_ != nullptr) munmap(base_, length_);
}

std::span<const std::byte> Mapped::data() const {
  return {static_cast<const std::byte*>(base_) + header_.data_offset,
          static_cast<std::size_t>(header_.items() * header_.item_bytes())};
}

Writer::Writer(std::string path, const std::vector<Field>& fields, std::vector<std::uint64_t> shape)
    : path_(std::move(path)) {
  Header header{fields, std::move(shape), 0};
  expected_ = header.items() * header.item_bytes();
  const std::string folder = folder_of(path_);
  const std::string name = path_.substr(path_.rfind('/') + 1);
  temporary_ = folder + "/." + name + ".XXXXXX";
  file_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (file_ < 0) {
    temporary_.clear();
    fail("it cannot be written");
  }
  buffer_.reserve(kBuffer);
  const std::string text = header_text(header.fields, header.shape);
  append(std::as_bytes(std::span(text)));
  given_ = 0;
}

Writer::~Writer() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Writer::fail(const char* what) const { throw Failure(system_error(what, path_, errno)); }

void Writer::append(std::span<const std::byte> bytes) {
  given_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kBuffer - buffer_.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
    bytes = bytes.subspan(part);
    if (buffer_.size() == kBuffer) flush();
  }
}

void Writer::flush() {
  for (std::size_t at = 0; at < buffer_.size();) {
    const ssize_t written = ::write(file_, buffer_.data() + at, buffer_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("it cannot be written");
    at += static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void Writer::sync() {
  if (given_ != expected_) {
    throw Failure(ErrorCode::internal, "the rows given do not fill the shape", path_);
  }
  flush();
  // mkostemp makes the file its owner's alone; a result has the permissions of any new file.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(file_, 0666 & ~mask) != 0) fail("its permissions cannot be set");
  if (fsync(file_) != 0) fail("it cannot be written");
  synced_ = true;
}

void Writer::finish() {
  if (!synced_) sync();
  if (::close(std::exchange(file_, -1)) != 0) fail("it cannot be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("it cannot be given its name");
  temporary_.clear();
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  // Some file systems cannot sync a folder; the file itself is safe.
  (void)fsync(folder);
  ::close(folder);
}

}  // namespace millrace::npy
