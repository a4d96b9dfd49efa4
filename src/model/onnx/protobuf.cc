#include "src/model/onnx/protobuf.h"

namespace millrace::model {

std::optional<std::uint64_t> ProtobufReader::varint() {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < left_.size() && i < 10; ++i) {
    const std::uint64_t byte = left_[i];
    // The tenth byte has only one bit left of 64.
    if (i == 9 && byte > 1) return bad();
    out |= (byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) {
      left_ = left_.subspan(i + 1);
      return out;
    }
  }
  return bad();
}

std::optional<ProtobufField> ProtobufReader::next() {
  if (left_.empty()) return std::nullopt;
  const auto key = varint();
  if (!key) return std::nullopt;
  if (*key >> 3 == 0 || *key >> 32 != 0) return bad();
  ProtobufField out;
  out.number = static_cast<std::uint32_t>(*key >> 3);
  const auto fixed = [&](std::size_t count) {
    if (left_.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i) out.value |= static_cast<std::uint64_t>(left_[i]) << (8 * i);
    out.is_number = true;
    left_ = left_.subspan(count);
    return true;
  };
  switch (*key & 7) {
    case 0: {
      const auto value = varint();
      if (!value) return std::nullopt;
      out.value = *value;
      out.is_number = true;
      return out;
    }
    case 1:
      if (!fixed(8)) return bad();
      return out;
    case 2: {
      const auto length = varint();
      if (!length) return std::nullopt;
      if (*length > left_.size()) return bad();
      out.bytes = left_.first(static_cast<std::size_t>(*length));
      left_ = left_.subspan(static_cast<std::size_t>(*length));
      return out;
    }
    case 5:
      if (!fixed(4)) return bad();
      return out;
    default:
      return bad();
  }
}

std::optional<std::uint64_t> ProtobufReader::next_number() { return left_.empty() ? std::nullopt : varint(); }

}  // namespace millrace::model
