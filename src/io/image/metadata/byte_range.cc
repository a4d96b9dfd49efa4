#include "src/io/image/metadata/byte_range.h"

#include <cerrno>

#include "src/io/file/positional_io.h"

namespace millrace {

std::span<const std::uint8_t> ByteSource::at(std::uint64_t offset, std::uint64_t count) {
  if (count == 0 || offset > size_ || count > size_ - offset) return {};
  if (descriptor_ < 0) return memory_.subspan(offset, count);
  if (offset < window_at_ || offset + count > window_at_ + window_.size()) {
    const std::uint64_t left = most_ - read_;
    if (count > left) return {};
    window_.resize(std::min({std::max(count, kWindow), size_ - offset, left}));
    const std::size_t got = read_at(descriptor_, offset, std::as_writable_bytes(std::span(window_)));
    if (got < window_.size() && errno != 0) error_number_ = errno;
    window_.resize(got);
    window_at_ = offset;
    read_ += got;
    // The file is shorter than its size was before: another process is truncating it.
    if (got < count) return {};
  }
  return std::span<const std::uint8_t>(window_).subspan(offset - window_at_, count);
}

std::uint64_t number_of(std::span<const std::uint8_t> bytes, ByteOrder order) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value = value << 8 | bytes[order == ByteOrder::big ? i : bytes.size() - 1 - i];
  }
  return value;
}

ByteRange ByteRange::part(std::uint64_t offset, std::uint64_t count) const {
  ByteRange out;
  if (offset >= size_) return out;
  out = *this;
  out.at_ += offset;
  out.size_ = std::min(count, size_ - offset);
  return out;
}

std::span<const std::uint8_t> ByteRange::read(std::uint64_t offset, std::uint64_t count) const {
  if (source_ == nullptr || offset > size_ || count > size_ - offset) return {};
  return source_->at(at_ + offset, count);
}

}  // namespace millrace
