#include "src/io/tensor/npy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <utility>

namespace millrace::npy {

static_assert(std::endian::native == std::endian::little, ".npy data is used as it lies in the file");

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

Writer::Writer(const Output& output, const std::vector<Field>& fields, std::vector<std::uint64_t> shape)
    : path_(output.path()), file_(output) {
  const Header header{fields, std::move(shape), 0};
  expected_ = header.items() * header.item_bytes();
  file_.write(header_text(header.fields, header.shape));
}

void Writer::append(std::span<const std::byte> bytes) {
  given_ += bytes.size();
  file_.write(bytes);
}

void Writer::sync() {
  if (given_ != expected_) {
    throw Failure(ErrorCode::internal, "the rows given do not fill the shape", path_);
  }
  file_.sync();
}

void Writer::finish() {
  sync();
  file_.commit();
}

}  // namespace millrace::npy
