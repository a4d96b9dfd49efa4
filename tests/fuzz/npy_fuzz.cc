// The front of a .npy file. What it promises about the bytes after it must hold.
#include <cstdint>
#include <cstdlib>

#include "src/io/tensor/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const auto header = npy::parse({reinterpret_cast<const std::byte*>(data), size}, "input");
  if (!header) {
    if (header.error().message().empty()) std::abort();
    return 0;
  }
  if (header->data_offset > size || header->items() * header->item_bytes() > size - header->data_offset) std::abort();
  if (header->fields.empty() || header->words().empty()) std::abort();
  return 0;
}
