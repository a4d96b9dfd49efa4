// Input: the path of an ONNX model.
// Output: what it says of itself, and a digest of all its bytes.
// Never: lets a model name a file outside its folder, or hands one on that is not of its format.
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
  std::uint64_t bytes = 0;  // with the files that its numbers lie in
  std::string digest;       // in hexadecimal, of the same
};

// Failure(not_found, io, bad_data), and (unsupported) where numbers lie outside the model's folder. All of a model is
// read; files over 2 GiB are no ONNX, whose numbers then lie beside it.
ModelFile open_model(const std::string& path, const std::function<bool()>& cancelled = {});

}  // namespace millrace::model
