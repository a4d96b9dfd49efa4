#include <algorithm>

#include "src/io/file/directory_entry.h"
#include "src/io/tensor/gather.h"
#include "src/io/tensor/inflate.h"
#include "src/io/tensor/npy_header.h"
#include "src/io/tensor/tensor_file.h"
#include "src/io/tensor/zip.h"
#include "src/memory/buffer.h"

namespace millrace::tensor_file {
namespace {

// Bytes read before their CRC-32 is computed: they are then still in a core's own cache.
constexpr std::size_t kAtOnce = 256 << 10;
// Longest header before an array that is read only for the sake of a CRC-32.
constexpr std::uint64_t kFront = npy::kMaxHeader + 12;

[[noreturn]] void shorter() {
  throw ParseError{ErrorCode::conflict, "it changed since it was examined: it is now shorter",
                   "run the same command again"};
}

// Returns the bytes of the block from the first element to the last.
std::uint64_t span_of(const Tensor& tensor) {
  return tensor.strides.empty() ? tensor.bytes()
                                : count_spanned_elements(tensor.shape, tensor.strides) * tensor.type.bytes();
}

void check_crc(const Block& block, std::uint32_t crc) {
  if (block.crc && *block.crc != crc) throw_bad_data("its numbers are damaged: their CRC-32 does not match");
}

}  // namespace

struct TensorReader::State {
  Inflater inflater;
  Buffer<std::byte> compressed, file, member, numbers, front;
  // File that was inflated last, into `file`: tensors of one file come one after the other.
  std::optional<FileState> inflated;

  void read(int fd, std::uint64_t file_size, const Tensor& tensor, std::span<std::byte> out) {
    FileSource source(fd, file_size);
    if (tensor.inflated == 0) return read_block(source, {}, tensor, out);
    const std::span<const std::byte> bytes = inflate_file(fd, source, tensor.inflated);
    MemorySource memory(bytes);
    read_block(memory, bytes, tensor, out);
  }

  std::span<const std::byte> inflate_file(int fd, FileSource& source, std::uint64_t promised) {
    const std::optional<FileState> now = state_of_descriptor(fd);
    if (now && inflated && inflated->same(*now) && file.size() == promised) return file.span();
    inflated.reset();
    // The promise may be that of another file, and this one cannot keep it.
    if (promised > max_inflated_bytes(source.size())) shorter();
    file.resize(static_cast<std::size_t>(promised));
    compressed.resize(static_cast<std::size_t>(source.size()));
    source.read(0, compressed.span());
    inflater.gzip(compressed.span(), file.span());
    inflated = now;
    return file.span();
  }

  // `memory` is the whole source, if that is in memory.
  void read_block(RandomAccessSource& source, std::span<const std::byte> memory, const Tensor& tensor,
                  std::span<std::byte> out) {
    const Block& block = tensor.block;
    const std::uint64_t size = source.size();
    if (block.end > size || block.offset > block.end || block.stored > block.end - block.offset) shorter();
    const std::uint64_t wanted = span_of(tensor);
    if (tensor.first > block.bytes || wanted > block.bytes - tensor.first) shorter();
    const std::uint64_t data = block.member ? zip::data_offset(source, block) : block.offset;
    if (block.deflated) {
      const std::span<const std::byte> bytes = inflate_member(source, data, block);
      return copy(bytes.subspan(tensor.first), tensor, out);
    }
    // A file that is in memory is not read again.
    if (!memory.empty()) {
      const auto bytes = memory.subspan(data, block.bytes);
      // gzip has a CRC-32 of its own, of the whole file.
      return copy(bytes.subspan(tensor.first), tensor, out);
    }
    if (tensor.strides.empty()) return read_checked(source, data, tensor, out);
    numbers.resize(static_cast<std::size_t>(wanted));
    read_checked(source, data, tensor, numbers.span());
    copy(numbers.span(), tensor, out);
  }

  // Reads the range of a stored block that the tensor spans. Checks its CRC-32 if all bytes that it covers are read.
  void read_checked(RandomAccessSource& source, std::uint64_t data, const Tensor& tensor, std::span<std::byte> out) {
    const Block& block = tensor.block;
    const bool whole = block.crc && tensor.first <= kFront && tensor.first + out.size() == block.bytes;
    if (!whole) return source.read(data + tensor.first, out);
    front.resize(static_cast<std::size_t>(tensor.first));
    source.read(data, front.span());
    std::uint32_t crc = crc32_of(0, front.span());
    for (std::size_t at = 0; at < out.size(); at += kAtOnce) {
      const auto part = out.subspan(at, std::min(kAtOnce, out.size() - at));
      source.read(data + tensor.first + at, part);
      crc = crc32_of(crc, part);
    }
    check_crc(block, crc);
  }

  std::span<const std::byte> inflate_member(RandomAccessSource& source, std::uint64_t data, const Block& block) {
    if (block.bytes > max_inflated_bytes(block.stored)) shorter();
    compressed.resize(static_cast<std::size_t>(block.stored));
    source.read(data, compressed.span());
    member.resize(static_cast<std::size_t>(block.bytes));
    inflater.raw(compressed.span(), member.span());
    check_crc(block, crc32_of(0, member.span()));
    return member.span();
  }

  static void copy(std::span<const std::byte> from, const Tensor& tensor, std::span<std::byte> out) {
    if (!tensor.strides.empty())
      return gather(from.data(), tensor.type.bytes(), tensor.shape, tensor.strides, out.data());
    if (!out.empty()) std::memcpy(out.data(), from.data(), out.size());
  }
};

TensorReader::TensorReader() : state_(std::make_unique<State>()) {}
TensorReader::~TensorReader() = default;
TensorReader::TensorReader(TensorReader&&) noexcept = default;
TensorReader& TensorReader::operator=(TensorReader&&) noexcept = default;

std::uint64_t TensorReader::bytes(const Tensor& tensor, std::uint64_t file_size) {
  std::uint64_t out = tensor.inflated > 0 ? file_size + tensor.inflated : 0;
  if (tensor.block.deflated) {
    // The compressed file is no longer needed by then, but its memory is kept.
    out = tensor.inflated > 0 ? std::max(file_size, tensor.block.stored) + tensor.inflated : tensor.block.stored;
    return out + tensor.block.bytes;
  }
  if (tensor.inflated == 0 && !tensor.strides.empty()) out += span_of(tensor);
  return out;
}

Outcome<void> TensorReader::read(int fd, std::uint64_t file_size, const std::string& path, const Tensor& tensor,
                                 std::span<std::byte> out) {
  if (out.size() != tensor.bytes()) {
    return Error{ErrorCode::internal, "the buffer for its numbers has the wrong size", path, {}};
  }
  try {
    state_->read(fd, file_size, tensor, out);
  } catch (const ParseError& parse_error) {
    return parse_error.about(path);
  }
  return {};
}

}  // namespace millrace::tensor_file
