// Input: the bytes of an ONNX file.
// Output: its description of itself: inputs and outputs, the operators that it needs, the files of its weights.
// Never: runs or converts the model; reads its weights or opens their files.
//
// The field numbers are those of onnx.proto in ONNX 1.16.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/base/error.h"

namespace millrace::model {

inline constexpr std::int64_t kAnySide = -1;  // a side of any length

struct OnnxPort {
  std::string name;
  std::string type;                 // NumPy's name; "" for anything but a tensor of numbers
  std::vector<std::int64_t> shape;  // kAnySide for a side of any length
  bool shaped = false;              // states the number of sides
};
std::string text_of(const std::vector<std::int64_t>& shape);  // "[1, 3, ?, ?]"

struct OnnxFile {
  std::string producer;  // "pytorch 2.15.0"
  std::uint64_t ir_version = 0;
  std::map<std::string, std::uint64_t> operator_sets;  // by domain; "" is ONNX's own
  std::vector<OnnxPort> inputs, outputs;               // inputs without those that have weights in the file
  // Maps each kind of operator to the name of its first node, also in functions. A kind is "domain.Operator", or
  // "Operator" for ONNX's own.
  std::map<std::string, std::string> operators;
  std::set<std::string> external;  // files of its weights, as the file names them
  std::uint64_t nodes = 0;
};

// Returns Error(bad_data) for anything but an ONNX model. Nested graphs are read up to a depth of 32.
Outcome<OnnxFile> read_onnx(std::span<const std::uint8_t> bytes, const std::string& path);

}  // namespace millrace::model
