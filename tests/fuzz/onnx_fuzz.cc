// An ONNX file, whose every length is somebody else's. What is read of it can be told as a first card.
#include <cstdint>
#include <cstdlib>

#include "src/model/model_card.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::model;
  const auto file = read_onnx({data, size}, "model.onnx");
  if (!file) {
    if (file.error().message().empty()) std::abort();
    return 0;
  }
  parse_card(describe(*file), "model.json");
  return 0;
}
