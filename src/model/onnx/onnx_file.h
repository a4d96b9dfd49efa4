// Input: the bytes of an ONNX file.
// Output: what it says of itself: inputs and outputs, the operators that it needs, where its numbers lie.
// Never: runs or converts it, or reads its numbers; goes where they lie.
//
// Source: onnx.proto of ONNX 1.16, by its numbers of fields.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.h"

namespace millrace::model {

inline constexpr std::int64_t kOpen = -1;  // a side that a model leaves to who runs it

struct Port {
  std::string name;
  std::string type;                 // as NumPy names it; "" where it is no tensor of numbers
  std::vector<std::int64_t> shape;  // kOpen where it is open
  bool shaped = false;              // says how many sides it has
};
std::string text_of(const std::vector<std::int64_t>& shape);  // "[1, 3, ?, ?]"

struct OnnxFile {
  std::string producer;  // "pytorch 2.15.0"
  std::uint64_t ir_version = 0;
  std::map<std::string, std::uint64_t> operator_sets;  // by domain; "" is ONNX's own
  std::vector<Port> inputs, outputs;                   // inputs without those that the file has numbers for
  // The first node of each kind: "domain.Operator", or "Operator" of ONNX's own, to its name; functions' too.
  std::map<std::string, std::string> operators;
  std::set<std::string> external;  // files that numbers lie in, as the file names them
  std::uint64_t nodes = 0;
};

// Error(bad_data) where it is no ONNX model. Graphs in graphs are looked into up to a depth of 32.
Outcome<OnnxFile> read_onnx(std::span<const std::uint8_t> bytes, const std::string& path);

}  // namespace millrace::model
