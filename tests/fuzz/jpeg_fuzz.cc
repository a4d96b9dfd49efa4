#include "tests/fuzz/picture_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millrace::fuzz::decode_all_ways(data, size, millrace::decode_jpeg);
  return 0;
}
