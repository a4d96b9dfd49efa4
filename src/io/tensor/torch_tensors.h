// Input: the values of a pickle that torch.save() wrote.
// Output: the tensors among them, with their storages and their offsets there.
// Never: looks for the storages: the caller knows where the file has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/io/tensor/pickle.h"
#include "src/io/tensor/tensor_file.h"

namespace millrace::torch_file {

// A run of numbers that tensors share, as the pickle describes it.
struct Storage {
  std::string key;
  std::uint64_t elements = 0, element_bytes = 1;

  std::uint64_t bytes() const { return elements * element_bytes; }
};

// A tensor without its block.
struct TorchTensor {
  tensor_file::Tensor tensor;
  Storage storage;
};

// Returns the tensors in the order in which their values come; each is inside of its storage. Throws ParseError:
// bad_data; too_large above 65,536 tensors. It is unsupported for a tensor that is not plain, a key that is neither
// text nor a number, or nesting above 64.
std::vector<TorchTensor> tensors_of(const pickle::Document& document);

}  // namespace millrace::torch_file
