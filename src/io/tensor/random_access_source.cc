#include "src/io/tensor/random_access_source.h"

#include <cerrno>

#include "src/io/file/positional_io.h"

namespace millrace {
namespace {

void check(std::uint64_t offset, std::uint64_t wanted, std::uint64_t size) {
  if (offset > size || wanted > size - offset) throw_bad_data("the file is truncated");
}

}  // namespace

void FileSource::read(std::uint64_t offset, std::span<std::byte> out) {
  if (go_on_) go_on_();
  check(offset, out.size(), size_);
  const std::size_t done = read_at(fd_, offset, out);
  if (errno != 0) {
    const Error error = system_error("cannot be read", {}, errno);
    throw ParseError{error.code, error.what, error.remedy};
  }
  if (done < out.size()) {
    throw ParseError{ErrorCode::conflict, "it changed while it was read: it is now shorter",
                     "run the same command again"};
  }
}

void MemorySource::read(std::uint64_t offset, std::span<std::byte> out) {
  check(offset, out.size(), bytes_.size());
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

}  // namespace millrace
