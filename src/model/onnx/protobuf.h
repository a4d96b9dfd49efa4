// Input: the bytes of a protocol buffer.
// Output: its fields, one by one, as numbers and spans of these bytes.
// Never: copies; reads past the end.
//
// The format is described in the documentation of Protocol Buffers, "Encoding".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace millrace::model {

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;                // of a number
  std::span<const std::uint8_t> bytes{};  // of a text, a message, or packed numbers
  bool is_number = false;

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  // Returns the next field; nothing at the end, or where the bytes are malformed: then good() is false.
  std::optional<ProtobufField> next();
  // Returns a number of a packed field. Fields and packed numbers need different readers.
  std::optional<std::uint64_t> next_number();
  bool good() const { return good_; }

 private:
  std::optional<std::uint64_t> varint();
  std::nullopt_t bad() {
    good_ = false;
    left_ = {};
    return std::nullopt;
  }

  std::span<const std::uint8_t> left_;
  bool good_ = true;
};

}  // namespace millrace::model
