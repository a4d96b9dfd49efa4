// Input: the path of an ONNX model.
// Output: its description of itself, and a digest of all its bytes.
// Never: lets a model name a file outside its folder; returns a file of another format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/error.h"
#include "src/model/onnx/onnx_file.h"

namespace millrace::model {

struct ModelFile {
  std::string path;
  OnnxFile onnx;
  std::uint64_t bytes = 0;  // with the files that contain its weights
  std::string digest;       // hexadecimal, of the same bytes
};

// Throws Failure(not_found, io, bad_data), and (unsupported) where weights are outside the model's folder. Reads all of
// a model. An ONNX file has at most 2 GiB; larger weights are in files beside it.
ModelFile open_model(const std::string& path, const std::function<bool()>& cancelled = {});

}  // namespace millrace::model
