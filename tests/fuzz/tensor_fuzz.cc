// A file of tensors as anybody may have made it; the first byte says which kind it passes for. All that it is said to
// hold is read, but for what only costs time.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "src/io/tensor/tensor_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  using tensor_file::Format;
  if (size == 0) return 0;
  constexpr Format kFormats[] = {Format::npy, Format::npy_gz, Format::npz,
                                 Format::pt,  Format::pt_gz,  Format::safetensors};
  constexpr std::uint64_t kMaxBytes = 64 << 20;
  const std::string path = fuzz::path_of_bytes(data + 1, size - 1);
  const auto tensors = tensor_file::list(path, kFormats[data[0] % std::size(kFormats)]);
  if (!tensors) {
    if (tensors.error().what.empty()) std::abort();
    return 0;
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) std::abort();
  tensor_file::TensorReader reader;
  std::uint64_t total = 0;
  for (const tensor_file::Tensor& tensor : *tensors) {
    const std::uint64_t bytes = tensor.bytes(), needed = tensor_file::TensorReader::bytes(tensor, size - 1);
    if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size()) std::abort();
    if (bytes > kMaxBytes || needed > kMaxBytes || (total += bytes + needed) > kMaxBytes) continue;
    std::vector<std::byte> out(bytes);
    const auto done = reader.read(fd, size - 1, path, tensor, out);
    if (!done.ok() && (done.error().what.empty() || done.error().code == ErrorCode::internal)) std::abort();
    // Reads nothing of a file that has become shorter since it was listed.
    if (size > 1) (void)reader.read(fd, (size - 1) / 2, path, tensor, out);
  }
  ::close(fd);
  return 0;
}
