#include "src/io/tensor/npy.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "src/io/tensor/row_cache.h"

namespace millrace::npy {

static_assert(std::endian::native == std::endian::little, ".npy data is used as it lies in the file");

Array Array::read(const std::string& path, Budget& budget, const std::function<bool()>& cancelled) {
  Array out;
  out.header_ = read_header(path).or_throw();
  const std::uint64_t bytes = out.header_.items() * out.header_.item_bytes();
  out.bytes_ = ReservedBuffer<std::byte>(budget, bytes, "the array");
  const PlainRowFile file(path, out.header_.data_offset, bytes, 1);
  constexpr std::uint64_t kAtOnce = 16 << 20;
  for (std::uint64_t at = 0; at < bytes; at += kAtOnce) {
    if (cancelled()) throw Failure(interrupted("it was read only in part", path));
    file.read(at, std::min(kAtOnce, bytes - at), out.bytes_.data() + at);
  }
  return out;
}

ArrayView Array::view() const {
  ArrayView out;
  out.data = const_cast<std::byte*>(bytes_.data());
  out.type = header_.fields.front().type;
  out.shape.assign(header_.shape.begin(), header_.shape.end());
  return out;
}

NpyWriter::NpyWriter(const OutputTarget& output, const std::vector<Field>& fields, std::vector<std::uint64_t> shape)
    : path_(output.path()), file_(output) {
  const Header header{fields, std::move(shape), 0};
  expected_ = header.items() * header.item_bytes();
  file_.write(header_text(header.fields, header.shape));
}

void NpyWriter::append(std::span<const std::byte> bytes) {
  given_ += bytes.size();
  file_.write(bytes);
}

void NpyWriter::sync() {
  if (given_ != expected_) {
    throw Failure(ErrorCode::internal, "the rows written do not match its shape", path_);
  }
  file_.sync();
}

void NpyWriter::finish() {
  sync();
  file_.commit();
}

}  // namespace millrace::npy
