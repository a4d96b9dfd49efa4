// ONNX models for tests, written field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace millrace::model::for_test {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes(std::uint32_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

// A side of 0 is written as a name instead.
inline std::string value_info(const std::string& name, std::initializer_list<int> sides) {
  std::string shape;
  for (const int side : sides)
    shape += bytes(1, side == 0 ? bytes(2, "any") : number(1, static_cast<std::uint64_t>(side)));
  return bytes(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape)));
}
inline std::string node(const std::string& kind, const std::string& name, const std::vector<std::string>& inputs,
                        const std::string& output, const std::string& more = "") {
  std::string out;
  for (const std::string& input : inputs) out += bytes(1, input);
  return out + bytes(2, output) + bytes(3, name) + bytes(4, kind) + more;
}
inline std::string floats(const std::string& name, std::initializer_list<int> sides, const std::vector<float>& values) {
  std::string out, raw(values.size() * sizeof(float), '\0');
  for (const int side : sides) out += number(1, static_cast<std::uint64_t>(side));
  std::memcpy(raw.data(), values.data(), raw.size());
  return out + number(2, 1) + bytes(8, name) + bytes(9, raw);
}
inline std::string external(const std::string& name, int side, const std::string& location) {
  return number(1, static_cast<std::uint64_t>(side)) + number(2, 1) + bytes(8, name) +
         bytes(13, bytes(1, "location") + bytes(2, location)) + number(14, 1);
}
// `graph` contains its fields: 1 node, 5 initializer, 11 input, 12 output.
inline std::string model(const std::string& graph, int operator_set = 13) {
  return number(1, 8) + bytes(2, "a test") + bytes(3, "1.0") + bytes(7, bytes(2, "graph") + graph) +
         bytes(8, bytes(1, "") + number(2, static_cast<std::uint64_t>(operator_set)));
}

// Model of y = factor x, for one channel and any window.
inline std::string times(float factor) {
  return model(bytes(1, node("Mul", "scale", {"x", "factor"}, "y")) + bytes(5, floats("factor", {1}, {factor})) +
               bytes(11, value_info("x", {1, 1, 0, 0})) + bytes(12, value_info("y", {1, 1, 0, 0})));
}

inline void write(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

}  // namespace millrace::model::for_test
